"""A POSIX shell command, cut into simple commands with their words, redirections and here-documents.

This is a reader for deciding what a command names, not an interpreter: control structures are not built, their
keywords stay words of the simple commands between the separators. Substitutions become commands of their own, before
the command they are part of. Unknown to the reader, on purpose: aliases, functions, arithmetic, `extglob`.

Two departures from POSIX, because models write such commands: an unquoted backslash before a letter, digit or dot is
kept as a (Windows) separator, and a closing parenthesis too many is a separator.

Every character is read a bounded number of times, so the time is linear in the length of the command.
"""

from __future__ import annotations

import re

import msgspec

VALUE = "$_"
"""What stands in a word for the value of a substitution, which is not known."""

_MAX_DEPTH = 30
"""Nested substitutions and subshells; deeper ones are no honest command."""

# Words in a row in which nothing is quoted or expanded: most of most commands.
_PLAIN = re.compile(r"(?:[ \t]*+[^\s'\"\\$`|&;()<>*?\[{#]++(?=[\s|&;()<>]|\Z))++[ \t]*+")
_CHUNK = re.compile(r"[^\s'\"\\$`|&;()<>*?\[{]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_BACKQUOTED = re.compile(r"`((?:[^`\\]|\\.)*+)`", re.DOTALL)
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,6})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_PARAMETER = re.compile(r"\$(?:\{[^{}]{0,200}\}|\w+|[@*#?$!-])?")
_ARITHMETIC = re.compile(r"\$?\(\((?:[^()]|\([^()]*+\))*+\)\)")
_REDIRECT = re.compile(r"\d*(<<<|<<-?|<>|<&|>>|>&|>\||&>>?|[<>])(?!\()")
_OPERATOR = re.compile(r"\|&|\|\||&&|;;&|;;|;&|[;|&\n]")
_QUERY = re.compile(r"\?[\w.-]+=")


class UnreadableError(ValueError):
    """The text is no shell command: a quote is not closed, or the nesting is absurd."""


class Word(msgspec.Struct, gc=False):
    """A word after quote removal."""

    at: int
    """Where it stands in the command: at or before its first character and behind the words before it."""
    text: str
    quoted: bool = False
    """Part of it was quoted or escaped."""
    glob: bool = False
    """It holds an unquoted `*`, `?` or `[`."""
    braces: bool = False
    """It holds an unquoted `{`."""


class Simple(msgspec.Struct):
    """A simple command: everything between two control operators."""

    scope: int
    """Index of the (sub)shell it runs in; 0 is the outermost."""
    words: list[Word] = msgspec.field(default_factory=list)
    redirects: list[tuple[str, Word]] = msgspec.field(default_factory=list)
    bodies: list[Word] = msgspec.field(default_factory=list)
    """Here-documents and here-strings, as they are written."""
    source: Simple | None = None
    """The command whose output it reads through a pipe."""
    sink: Simple | None = None
    """The command that reads its output through a pipe."""


class Script(msgspec.Struct):
    """A command line that was read."""

    commands: list[Simple]
    """In order of their ends."""
    parents: list[int]
    """For each scope the scope it was opened in; -1 for the outermost."""


def read(text: str, *, depth: int = 0, lenient: bool = False) -> Script:
    """Read a command line.

    Args:
        text: the command.
        depth: nesting it is already at.
        lenient: the end was cut off, so an open quote ends there.

    Raises:
        UnreadableError: a quote is not closed or the nesting is deeper than 30.
    """
    reader = _Reader(text, depth, lenient)
    while reader.pos < reader.end:
        reader.commands("")
    return Script(reader.done, reader.parents)


class _Reader:
    def __init__(self, text: str, depth: int, lenient: bool) -> None:
        self.text = text
        self.end = len(text)
        self.pos = 0
        self.depth = depth
        self.lenient = lenient
        self.done: list[Simple] = []
        self.parents = [-1]
        self.scope = 0
        self._awaited: list[tuple[Simple, str, bool]] = []

    def commands(self, closer: str) -> None:
        """Read commands up to and with `closer`, or to the end."""
        if self.depth > _MAX_DEPTH:
            raise UnreadableError("nested too deeply")
        text, current, plain_at = self.text, Simple(self.scope), _PLAIN.match
        while self.pos < self.end:
            if plain := plain_at(text, self.pos):
                words, start = plain[0].split(), self.pos
                self.pos = plain.end()
                if words[-1].isdigit() and text.startswith(("<", ">"), self.pos):
                    words.pop()
                current.words += [Word(start + index, word) for index, word in enumerate(words)]
                continue
            char = text[self.pos]
            if char == ")":
                self.pos += 1
                if closer:
                    break
                current = self._finish(current)
            elif char != "\n" and char.isspace():
                self.pos += 1
            elif char in "<>&" and (found := _REDIRECT.match(text, self.pos)):
                self._redirect(current, found)
            elif found := _OPERATOR.match(text, self.pos):
                current = self._separate(current, found)
            elif char == "(":
                current = self._group(current)
            elif char == "#" and (self.pos == 0 or text[self.pos - 1].isspace() or text[self.pos - 1] in ";|&("):
                self.pos = self._line_end()
            else:
                current.words += self._some_word()
        self._finish(current)

    def _finish(self, current: Simple) -> Simple:
        if current.words or current.redirects or current.bodies:
            self.done.append(current)
        return Simple(self.scope)

    def _separate(self, current: Simple, found: re.Match[str]) -> Simple:
        self.pos = found.end()
        after = self._finish(current)
        if found[0] in {"|", "|&"} and self.done:
            after.source = self.done[-1]
            after.source.sink = after
        elif found[0] == "\n" and self._awaited:
            self._take_bodies()
        return after

    def _line_end(self) -> int:
        end = self.text.find("\n", self.pos)
        return self.end if end < 0 else end

    def _group(self, current: Simple) -> Simple:
        if found := _ARITHMETIC.match(self.text, self.pos):
            current.words.append(Word(self.pos, VALUE))
            self.pos = found.end()
            return current
        self._finish(current)
        self.pos += 1
        self._nested()
        return Simple(self.scope)

    def _nested(self) -> None:
        """Read the commands of a subshell or substitution, whose opening was passed."""
        outer = self.scope
        self.parents.append(outer)
        self.scope = len(self.parents) - 1
        self.depth += 1
        self.commands(")")
        self.depth -= 1
        self.scope = outer

    def _redirect(self, current: Simple, found: re.Match[str]) -> None:
        operator = found[1]
        self.pos = found.end()
        while self.pos < self.end and self.text[self.pos] in " \t":
            self.pos += 1
        word = self._word()
        if operator in {"<<", "<<-"}:
            self._awaited.append((current, word.text, operator == "<<-"))
        elif operator == "<<<":
            current.bodies.append(word)
        else:
            current.redirects.append((operator, word))

    def _take_bodies(self) -> None:
        """Read the here-documents that were announced on the line just ended."""
        for target, delimiter, indented in self._awaited:
            start = self.pos
            closing = re.compile(rf"^{chr(9) + '*' if indented else ''}{re.escape(delimiter)}$", re.MULTILINE)
            found = closing.search(self.text, start)
            self.pos = min(found.end() + 1, self.end) if found else self.end
            target.bodies.append(Word(start, self.text[start : found.start() if found else self.end]))
        self._awaited.clear()

    def _some_word(self) -> list[Word]:
        """The word here; none when there was only a line continuation."""
        word = self._word()
        return [word] if word.text or word.quoted else []

    def _word(self) -> Word:
        """The word at the current position; empty when an operator stands there."""
        word = Word(self.pos, "")
        parts: list[str] = []
        while self.pos < self.end:
            if chunk := _CHUNK.match(self.text, self.pos):
                parts.append(chunk[0])
                self.pos = chunk.end()
                continue
            char = self.text[self.pos]
            if char in "<>" and self.text.startswith("(", self.pos + 1):
                self.pos += 2
                self._nested()
                parts.append(VALUE)
            elif char in _SPECIAL:
                parts.append(_SPECIAL[char](self, word))
            else:
                break
        word.text = "".join(parts)
        return word

    def _single(self, word: Word) -> str:
        word.quoted = True
        return self._until(self.text.find("'", self.pos + 1))

    def _until(self, close: int) -> str:
        """What is left up to the closing quote at `close`, after the opening one here."""
        start = self.pos + 1
        if close < 0:
            if not self.lenient:
                raise UnreadableError("a quote is not closed")
            close = self.end
        self.pos = close + 1
        return self.text[start:close]

    def _double(self, word: Word) -> str:
        word.quoted = True
        self.pos += 1
        parts: list[str] = []
        while self.pos < self.end:
            if chunk := _IN_DOUBLE.match(self.text, self.pos):
                parts.append(chunk[0])
                self.pos = chunk.end()
                continue
            char = self.text[self.pos]
            if char == '"':
                self.pos += 1
                return "".join(parts)
            if char == "\\":
                parts.append(self._escape_in_double())
            else:
                parts.append(self._dollar_in_double() if char == "$" else self._backquote(word))
        if not self.lenient:
            raise UnreadableError("a quote is not closed")
        return "".join(parts)

    def _escape_in_double(self) -> str:
        after = self.text[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if after == "\n":
            return ""
        return after if after and after in '$`"\\' else "\\" + after

    def _dollar_in_double(self) -> str:
        return self._substitution() if self.text.startswith("$(", self.pos) else self._parameter()

    def _escape(self, word: Word) -> str:
        after = self.text[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if after == "\n":
            return ""
        if after.isalnum() or after in {"_", "."}:
            return "\\" + after
        word.quoted = True
        return after

    def _dollar(self, word: Word) -> str:
        if self.text.startswith("$'", self.pos):
            return self._ansi(word)
        if self.text.startswith('$"', self.pos):
            self.pos += 1
            return self._double(word)
        return self._dollar_in_double()

    def _ansi(self, word: Word) -> str:
        word.quoted = True
        found = _ANSI.match(self.text, self.pos)
        if found is None:
            self.pos += 1
            return self._until(-1)
        self.pos = found.end()
        return _ANSI_ESCAPE.sub(_decoded, found[1])

    def _parameter(self) -> str:
        found = _PARAMETER.match(self.text, self.pos)
        self.pos += len(found[0]) if found else 1
        return found[0] if found else "$"

    def _substitution(self) -> str:
        if found := _ARITHMETIC.match(self.text, self.pos):
            self.pos = found.end()
        else:
            self.pos += 2
            self._nested()
        return VALUE

    def _backquote(self, _: Word) -> str:
        found = _BACKQUOTED.match(self.text, self.pos)
        if found is None:
            return self._until(-1)
        inner = _Reader(re.sub(r"\\([`\\$])", r"\1", found[1]), self.depth + 1, lenient=True)
        inner.commands("")
        for command in inner.done:
            command.scope = self.scope
            for word in command.words:
                word.at += self.pos
        self.done += inner.done
        self.pos = found.end()
        return VALUE

    def _wildcard(self, word: Word) -> str:
        char = self.text[self.pos]
        if char != "?" or _QUERY.match(self.text, self.pos) is None:
            word.glob = True
        self.pos += 1
        return char

    def _brace(self, word: Word) -> str:
        word.braces = True
        self.pos += 1
        return "{"


_SPECIAL = {
    "'": _Reader._single,
    '"': _Reader._double,
    "\\": _Reader._escape,
    "$": _Reader._dollar,
    "`": _Reader._backquote,
    "*": _Reader._wildcard,
    "?": _Reader._wildcard,
    "[": _Reader._wildcard,
    "{": _Reader._brace,
}


def _decoded(found: re.Match[str]) -> str:
    """The character an ANSI-C escape stands for; what is no character becomes U+FFFD."""
    code = found[1] or found[2] or found[3]
    if code or found[4]:
        number = int(code, 16) if code else int(found[4], 8)
        return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ANSI_LETTERS.get(found[5], found[5])
