"""The arguments of a program, told apart by which of its options take a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec


class Options(msgspec.Struct, frozen=True):
    """Options and operands. Flags are written with their dashes, each letter of `-la` for itself."""

    flags: frozenset[str]
    values: dict[str, str]
    operands: tuple[str, ...]

    def any(self, *names: str) -> bool:
        """Whether one of these options is given, with or without a value."""
        return any(name in self.flags or name in self.values for name in names)

    def value(self, *names: str) -> str:
        """The value of the first of these options that is given; empty when none is."""
        return next((self.values[name] for name in names if name in self.values), "")


def words(text: str) -> frozenset[str]:
    """A set of words, for tables."""
    return frozenset(text.split())


def options_of(args: Sequence[str], valued: Iterable[str] = ()) -> Options:
    """Read arguments; `valued`: options that take the rest of their word or the next word for a value."""
    takes = frozenset(valued)
    flags: set[str] = set()
    values: dict[str, str] = {}
    operands: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            operands += rest
        elif arg.startswith("--"):
            name, equals, value = arg.partition("=")
            if equals or name in takes:
                values[name] = value if equals else next(rest, "")
            else:
                flags.add(name)
        elif arg.startswith("-") and len(arg) > 1:
            _cluster(arg, takes, flags, values, rest)
        else:
            operands.append(arg)
    return Options(frozenset(flags), values, tuple(operands))


def _cluster(arg: str, takes: frozenset[str], flags: set[str], values: dict[str, str], rest: Iterable[str]) -> None:
    for place, letter in enumerate(arg[1:], 2):
        if f"-{letter}" in takes:
            values[f"-{letter}"] = arg[place:] or next(iter(rest), "")
            return
        flags.add(f"-{letter}")
