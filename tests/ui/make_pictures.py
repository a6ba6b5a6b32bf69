"""Pictures of the dashboard, as SVG.

`python -m tests.ui.make_pictures` plays the demo and writes the README's pictures into `screenshots/`. With `--example`
they show the tests' example, all of its pictures or those named. `--png` adds PNGs by `rsvg-convert`.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from core.settings import Settings
from core.views import SessionView
from ledger_tui.app import LedgerApp
from tests.ui import example, hostile
from tests.ui.fake_host import FakeHost

_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}\s*")
"""A picture brings no font from elsewhere: the reader's own monospaced one is used."""
_TEXT = re.compile(r'(<text [^>]*?x=")([\d.]+)("[^>]*?textLength=")([\d.]+)("[^>]*>)((?:&#160;)+)')


@dataclass(frozen=True)
class Picture:
    """One picture: how big the terminal is, what is shown, which keys are pressed first."""

    name: str
    size: tuple[int, int] = (120, 40)
    keys: Sequence[str] = ()
    theme: str = "ledger-dark"
    view: Callable[[], SessionView | None] = example.example
    server: Callable[[], Any] = example.live_server
    plain: bool = False


PICTURES = (
    Picture("dashboard"),
    Picture("dashboard-80x24", (80, 24), ["2"]),
    Picture("dashboard-60x20", (60, 20), ["2", "j"]),
    Picture("dashboard-light", keys=["2", "j"], theme="ledger-light"),
    Picture("dashboard-ansi", keys=["2", "j"], theme="ledger-ansi"),
    Picture("dashboard-ascii", keys=["2", "space", "space"], plain=True),
    Picture("receipt", (100, 32), ["2", "enter"]),
    Picture("receipt-held", (100, 32), ["4", "o"]),
    Picture("inbox", (100, 32), ["v"], view=lambda: example.example(pairs=example.pairs())),
    Picture("repeats", (100, 32), ["w"], view=lambda: example.example(repeats=example.repeats())),
    Picture("help", (100, 40), ["2", "?"]),
    Picture("palette", keys=["2", "ctrl+p"]),
    Picture("sessions", keys=["s"]),
    Picture("edit", keys=["2", "e"]),
    Picture("filter", keys=["2", "/", "v", "o", "c", "a", "b"]),
    Picture("deleted", keys=["2", "d"]),
    Picture("question", keys=["x"], view=lambda: example.example(earlier=31)),
    Picture("step", (100, 30), ["k", "k", "enter"]),
    Picture("start", view=example.blank),
    Picture("no-server", (100, 30), view=lambda: None, server=lambda: example.live_server(state="none", url="")),
    Picture("lost", server=example.lost_server),
    Picture("replay", (120, 30), server=lambda: example.live_server(replay=True, speed=4.0)),
    Picture("side", (120, 26), ["3"]),
    Picture("stack-log", (84, 30), ["5"]),
    Picture("small", (50, 16)),
    Picture("hostile", view=hostile.hostile),
)


DEMO_SPEED = 60.0
DEMO_STEPS = 37

DEMO_PICTURES = (
    Picture("dashboard"),
    Picture("receipt", (110, 34), ["2", "g", "enter"]),
    Picture("help", (110, 40), ["2", "?"]),
    Picture("dashboard-80x24", (80, 24), ["2"]),
    Picture("dashboard-60x20", (60, 20), ["3"]),
    Picture("dashboard-light", keys=["2", "g"], theme="ledger-light"),
)
"""The README's pictures, in an order in which the keys of one do not spoil the next."""


def example_app(picture: Picture) -> LedgerApp:
    """The dashboard over the fake ledger, its clock and time zone pinned."""
    host = FakeHost(picture.view(), picture.server())
    host.items = example.session_items()
    settings = Settings(theme=picture.theme, ascii=picture.plain)
    return LedgerApp(host, settings, clock=lambda: example.NOW, zone=UTC)


async def example_picture(wanted: Picture, folder: Path, *, png: bool) -> None:
    """One picture of the example."""
    app = example_app(wanted)
    async with app.run_test(size=wanted.size) as pilot:
        await pilot.pause()
        await _take(pilot, folder / f"{wanted.name}.svg", wanted.keys, png=png)


async def demo_pictures(folder: Path, *, png: bool) -> None:
    """Play the demo until the agent goes in circles, hold it there, and take the README's pictures."""
    from core.demo import demo_host

    settings = Settings()
    host = demo_host(settings, DEMO_SPEED)
    app = LedgerApp(host, settings)
    async with app.run_test(size=(120, 40)) as pilot:
        there = asyncio.Event()
        host.subscribe(lambda: there.set() if _in_circles(host.view()) else None)
        await there.wait()
        host.set_speed(0.0)
        for wanted in DEMO_PICTURES:
            if wanted.theme != app.theme:
                app.use_theme(wanted.theme)
            await pilot.resize_terminal(*wanted.size)
            await pilot.pause(0.3)
            await _take(pilot, folder / f"{wanted.name}.svg", wanted.keys, png=png)
            await pilot.press("escape")


def _in_circles(view: SessionView | None) -> bool:
    return view is not None and view.completed >= DEMO_STEPS and any(meter.action == "stop" for meter in view.meters)


async def _take(pilot: Pilot[int], out: Path, keys: Sequence[str], *, png: bool) -> None:
    """Press the keys, then write what is on screen."""
    for key in keys:
        await pilot.press(key)
    await pilot.pause()
    width, height = pilot.app.size
    svg = pilot.app.export_screenshot(title=f"ledger-tui  {width}×{height}")
    await asyncio.to_thread(_write, out, svg, png=png)


def _write(out: Path, svg: str, *, png: bool) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    svg = _FONT_FACE.sub("", _TEXT.sub(_without_indent, svg))
    out.write_text(svg, encoding="utf-8")
    print(out)
    if png:
        subprocess.run(["rsvg-convert", str(out), "-o", str(out.with_suffix(".png"))], check=True)


def _without_indent(match: re.Match[str]) -> str:
    """A text run moved right by its leading spaces, which some SVG renderers would drop."""
    before, x, between, length, close, spaces = match.groups()
    rest = match.string[match.end() : match.string.index("</text>", match.end())]
    indent, whole = len(html.unescape(spaces)), len(html.unescape(spaces + rest))
    if not rest or not whole:
        return match[0]
    cell = float(length) / whole
    return f"{before}{float(x) + cell * indent:.1f}{between}{cell * (whole - indent):.1f}{close}"


def main() -> int:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="pictures of the example to take; all when none is named")
    parser.add_argument("--out", type=Path, default=Path("screenshots"))
    parser.add_argument("--example", action="store_true", help="the tests' example instead of the demo")
    parser.add_argument("--png", action="store_true")
    args = parser.parse_args()
    if not args.example:
        asyncio.run(demo_pictures(args.out, png=args.png))
        return 0
    for wanted in PICTURES:
        if not args.names or wanted.name in args.names:
            asyncio.run(example_picture(wanted, args.out, png=args.png))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
