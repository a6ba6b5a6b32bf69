"""`ledger-tui history distil`: notes of past sessions, made by a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger_tui import options
from ledger_tui.commands import history_source
from ledger_tui.output import complain, say, say_json

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from core.history.distil import Options
    from core.history.fates import Progress
    from core.history.inference import Distiller
    from core.history.material import Work
    from core.settings import Settings

HELP = "have a model make a note of each past session"
EXAMPLES = """\
The model is that of an OpenCode server, asked in sessions of our own that are deleted afterwards, or any
OpenAI-compatible endpoint. The sessions are those there are at the start. What the model is asked is saved first, with
secrets masked; each note begins with the session's id, time and folder. A run that was stopped is continued by the next
one with the same --out: finished sessions are not asked about again. How much of a session the model is shown are
settings: `ledger-tui config list` shows those that begin with history_.

examples:
  ledger-tui history distil --dry-run
  ledger-tui history distil --out ~/notes --limit 50 --jobs 4
  LEDGER_ENDPOINT_KEY=… ledger-tui history distil --endpoint http://127.0.0.1:8000/v1 --model qwen3
  ledger-tui history distil --redo-stale

exit codes: 1 failed, or some sessions got no answer; 2 wrong usage; 3 server unreachable or refused; 130 Ctrl-C
"""
USED: Final = ("--server", "--directory", "--password-file", "--set")
DEFAULT_SINKS: Final = ("files",)
COMMON_HELP: Final = {
    "--directory": "folder whose OpenCode is asked, and whose settings apply (default: the current folder)",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this action's own flags."""
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=None,
        help="output folder (default: notes in the user's state folder)",
    )
    parser.add_argument(
        "--sink",
        metavar="NAME",
        action="append",
        default=[],
        help="where notes go, may be repeated: files (in the output folder) or cognee (an optional extra)"
        " (default: files)",
    )
    _add_model(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        default=False,
        help="say what would be done, with estimated tokens; ask nothing",
    )
    parser.add_argument(
        "--redo-stale",
        action="store_true",
        default=False,
        help="also sessions that changed since their note (default: no)",
    )
    parser.add_argument(
        "--redo-errors",
        action="store_true",
        default=False,
        help="also sessions whose answers were no notes (default: no)",
    )
    parser.add_argument(
        "--json", action="store_true", default=False, help="the result as JSON (default: lines to read)"
    )
    history_source.add_part(parser)
    history_source.add_children(parser)
    history_source.add_source(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say who is asked."""
    parser.add_argument(
        "--endpoint",
        metavar="URL",
        default=None,
        help="address of an OpenAI-compatible endpoint; its key comes from $LEDGER_ENDPOINT_KEY (default: OpenCode)",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        default="",
        help="the model: provider/model in OpenCode, its name at an endpoint (default: extraction_model of the"
        " settings, else small_model of OpenCode; at an endpoint its only one)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=history_source.whole_number,
        default=1,
        help="questions under way at the same time, 1 to 64 (default: 1)",
    )


def run(args: argparse.Namespace) -> int:
    """Plan, or go through the sessions."""
    from core.history.distil import Options  # noqa: PLC0415

    settings = options.config(args).settings
    how = Options(
        bounds=history_source.bounds(settings),
        jobs=args.jobs,
        redo_stale=args.redo_stale,
        redo_errors=args.redo_errors,
    )
    out = _out(args)
    works = _works(args)
    if args.dry_run:
        return _plan(works, out, how, as_json=args.json)
    if not works:
        from core.history.fates import Progress  # noqa: PLC0415

        return _tell(Progress(done=0, total=0, fates={}), out, as_json=args.json)
    from ledger_tui.running import run_until_signal  # noqa: PLC0415

    return run_until_signal(lambda: _distil(args, settings, works, out, how))


def _out(args: argparse.Namespace) -> Path:
    if args.out is not None:
        path: Path = args.out
        return path.expanduser().absolute()
    from core.paths import state_dir  # noqa: PLC0415

    return state_dir() / "notes"


def _works(args: argparse.Namespace) -> list[Work]:
    """The sessions there are now."""
    from core.history.listing import list_all  # noqa: PLC0415
    from core.history.material import Work  # noqa: PLC0415
    from core.history.own import own_sessions  # noqa: PLC0415

    with history_source.gathered(args) as gathering:
        rows = list_all(
            gathering.sources,
            limit=args.limit,
            offset=args.offset,
            include_children=args.include_children,
            own=own_sessions(),
        )
        return [Work(row=row, database=source.path, legacy_json=args.legacy_json) for source, row in rows]


def _plan(works: list[Work], out: Path, how: Options, *, as_json: bool) -> int:
    import msgspec  # noqa: PLC0415

    from core.history.distil import plan  # noqa: PLC0415
    from ledger_tui.format import count, plural  # noqa: PLC0415

    found = plan(works, out, how)
    if as_json:
        say_json(msgspec.structs.asdict(found))
        return 0
    answers = f", and about {count(found.output_tokens)} for the answers" if found.output_tokens else ""
    say(f"{plural(found.total, 'session')}, of which {found.ask} would be asked about")
    say(f"about {count(found.input_tokens)} tokens for the questions{answers}")
    for number, what in (
        (found.kept, "finished and unchanged"),
        (found.stale, "changed since their note; --redo-stale makes it anew"),
        (found.empty, "without any content"),
        (found.gone, "deleted meanwhile"),
    ):
        if number:
            say(f"{number} {what}")
    return 0


async def _distil(args: argparse.Namespace, settings: Settings, works: list[Work], out: Path, how: Options) -> int:
    import asyncio  # noqa: PLC0415
    from contextlib import AsyncExitStack, closing  # noqa: PLC0415

    from core.history.distil import Run  # noqa: PLC0415
    from core.history.folder import STATE, Folder  # noqa: PLC0415
    from core.history.sinks import open_sink  # noqa: PLC0415
    from core.history.state import Book  # noqa: PLC0415
    from ledger_tui.commands.history_progress import RunProgress  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(Folder.open(out))
        book = stack.enter_context(closing(Book.open(out / STATE)))
        sinks = []
        for name in dict.fromkeys(args.sink or DEFAULT_SINKS):
            sinks.append(await asyncio.to_thread(open_sink, name, folder))
            stack.callback(sinks[-1].close)
        distiller = await _distiller(args, settings, stack)
        with RunProgress() as progress:
            ended = await Run(folder, book, distiller, sinks, how, on_progress=progress).run(works)
    return _tell(ended, out, as_json=args.json)


async def _distiller(args: argparse.Namespace, settings: Settings, stack: AsyncExitStack) -> Distiller:
    """The model that was asked for; closed with `stack`."""
    if args.endpoint is not None:
        import os  # noqa: PLC0415

        from core.history.endpoint import KEY_VARIABLE, EndpointDistiller  # noqa: PLC0415

        found = EndpointDistiller(args.endpoint, model=args.model, key=os.environ.get(KEY_VARIABLE, ""))
        stack.push_async_callback(found.aclose)
        return found
    import asyncio  # noqa: PLC0415

    from core.history.opencode import OpenCodeDistiller  # noqa: PLC0415
    from core.host.finding_server import find_server  # noqa: PLC0415
    from core.opencode.client import Client  # noqa: PLC0415
    from core.store.own import OwnSessions  # noqa: PLC0415

    target = await find_server(options.host_options(args))
    client = Client(
        target.url,
        directory=str(options.directory(args)),
        auth=target.credentials,
        token=target.token,
        vouch=target.vouch,
    )
    await stack.enter_async_context(client)
    own = await asyncio.to_thread(OwnSessions, options.database(), lambda _, message: complain(message))
    stack.callback(own.close)
    model = args.model or settings.extraction_model
    return OpenCodeDistiller(client, own, agent=settings.agent, model=model)


def _tell(ended: Progress, out: Path, *, as_json: bool) -> int:
    from core.history.fates import Fate  # noqa: PLC0415
    from ledger_tui.commands.history_progress import summary  # noqa: PLC0415

    if as_json:
        tokens, spent = ended.spent.tokens, ended.spent
        counts = {str(fate): ended.count(fate) for fate in Fate}
        figures = {"requests": spent.requests, "tokens": tokens.total, "cost": spent.cost}
        say_json({"out": str(out), "sessions": ended.total, **counts, **figures})
    else:
        say(f"{summary(ended)}; see {out}")
    for fate, words in (
        (Fate.STALE, "changed since their note; --redo-stale makes it anew"),
        (Fate.ERROR, "got answers that are no notes; --redo-errors asks again"),
        (Fate.FAILED, "got no answer; the next run asks again"),
    ):
        number = ended.count(fate)
        if number:
            complain(f"{number} session{'' if number == 1 else 's'} {words}")
    return 1 if ended.count(Fate.FAILED) else 0
