"""Versions that programs and packages tell of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from core.ledger.rules.shown import Found, Line, Shown, said, topic

_SHORT_V: Final = re.compile(
    r"node|npm|npx|yarn|pnpm|bun|tsc|php|ruby|lua[\d.]*|nginx|mvn|gradle|docker|docker-compose|redis-server|jest|vitest|swipl"
    r"|cmake|clang(?:\+\+)?|gcc|g\+\+"
)
"""Programs to which a lone `-v` means version."""
_CAPITAL_V: Final = re.compile(
    r"python[\d.]*|pip[\d.]*|rustc|cargo|psql|ssh|curl|jq|wget|uv|ruff|poetry|make|zsh|tmux|ctags|pytest|mypy|black|tsc"
    r"|elixir|redis-cli|mysql|deno|bat|fd|rg|nano|perl|ffmpeg|mongod?"
)
_WORD: Final = re.compile(
    r"go|git|kubectl|helm|terraform|openssl|zig|docker|podman|hugo|flutter|dotnet|buf|deno|swift|bun|conda|gh|minikube|istioctl"
)
"""Programs with a sub-command `version`."""
_NUMBER: Final = re.compile(
    r"(?<![\d.\-/:])v?(\d{1,5}+(?:\.\d{1,6}+){1,4}+(?:[-+_]?[A-Za-z][\w.+-]{0,30}|-\d+[\w.+-]{0,30})?)(?!\.?\d|:\d)"
)
_LONE_NUMBER: Final = re.compile(r"[A-Za-z][\w+-]* (\d{1,4})(?= |\Z)")
_NOT: Final = re.compile(
    r"warn|deprecat|error|usage|not found|unknown|invalid|illegal|unrecogni|no such|licen[cs]e|available"
    r"|update|command|option|require|https?:",
    re.IGNORECASE,
)
_COPYRIGHT: Final = re.compile(r"copyright", re.IGNORECASE)
_SAYS: Final = re.compile(r"\b(?:version|release)\b", re.IGNORECASE)
_MOST_LINES: Final = 6
_LONGEST: Final = 200
_ATTRIBUTE: Final = re.compile(
    r"\s*(?:import (?P<module>[\w.]+)|from (?P<origin>[\w.]+) import __version__)"
    r"\s*;\s*print\((?:(?P<named>[\w.]+)\.)?__version__\)\s*;?\s*"
)


def program_versions(shown: Shown) -> Iterator[Found]:
    """The version that a program tells when it is asked for nothing else."""
    if not _asks(shown) or shown.failed or not shown.passed_by("head"):
        return
    name = shown.program
    told = [line for line in shown.short if line.text.strip()][:_MOST_LINES]
    for place, line in enumerate(told):
        text = _COPYRIGHT.split(line.text, maxsplit=1)[0].strip()
        if not text or len(text) > _LONGEST or _NOT.search(text):
            continue
        number = _number(text, name, first=place == 0)
        if number:
            subject = shown.word if "/" in shown.word else name
            yield Found(f"{said(subject)} is version {number} (`{shown.command}`).", topic("version", name), (line.n,))
            return


def _asks(shown: Shown) -> bool:
    args = shown.args
    if len(args) != 1 or not re.fullmatch(r"[\w.+-]+", shown.program):
        return len(args) == 2 and (shown.program, *args) in {
            ("kubectl", "version", "--client"),
            ("git", "version", "--build-options"),
        }
    if args[0] in {"--version", "-version"}:
        return shown.program not in {"echo", "printf"}
    known = {"-v": _SHORT_V, "-V": _CAPITAL_V, "version": _WORD}.get(args[0])
    return known is not None and known.fullmatch(shown.program) is not None


def _number(text: str, name: str, *, first: bool) -> str:
    """The version in a line; empty when the line is not about the program's own."""
    plain = re.sub(r"\([^()]*\)", " ", text)
    bare = _NUMBER.fullmatch(text)
    stem = name.rstrip("0123456789.").lower()
    about = bare or _SAYS.search(text) or (stem and stem in text.lower()) or (first and len(text.split()) <= 6)
    if not about:
        return ""
    spelled = re.sub(rf"\b{re.escape(stem)}[-_]?(?=\d)", " ", plain, flags=re.IGNORECASE) if stem else plain
    found = _NUMBER.search(spelled) or _NUMBER.search(text)
    if found:
        return found[1].rstrip(".-+")
    lone = _LONE_NUMBER.match(text) if first else None
    return lone[1] if lone else ""


def package_versions(shown: Shown) -> Iterator[Found]:
    """The version of a Python package, from `pip show` or from its own `__version__`."""
    if shown.failed or not shown.passed_by("head", "grep"):
        return
    if re.fullmatch(r"pip[\d.]*", shown.program) and shown.args[:1] == ("show",):
        yield from _pip_show(shown.short)
    elif re.fullmatch(r"i?python[\d.]*", shown.program) and len(shown.args) == 2 and shown.args[0] == "-c":
        yield from _attribute(shown)


def _pip_show(lines: Iterable[Line]) -> Iterator[Found]:
    name: Line | None = None
    for line in lines:
        key, _, value = line.text.partition(": ")
        if key == "Name":
            name = Line(line.n, value.strip())
        elif key == "Version" and name and re.fullmatch(r"[\w.+!-]{1,40}", value.strip()):
            fact = f"The Python package {said(name.text)} is installed in version {value.strip()}."
            yield Found(fact, topic("version", name.text), (name.n, line.n))
            name = None


def _attribute(shown: Shown) -> Iterator[Found]:
    code = _ATTRIBUTE.fullmatch(shown.args[1])
    told = [line for line in shown.short if line.text.strip()]
    if code is None or len(told) != 1 or not re.fullmatch(r"\d[\w.+!-]{0,40}", told[0].text.strip()):
        return
    module = code["module"] or code["origin"]
    if (code["named"] or module) == module:
        fact = f"The Python package {module} is installed in version {told[0].text.strip()} (`{shown.command}`)."
        yield Found(fact, topic("version", module), (told[0].n,))
