"""What a list knows besides its rows: cursor, scroll position, choice, filter, and whether it follows the stream.

No Textual in here: widths and heights are given in cells and lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from ledger_tui.rows.look import Row

_FILTERED_CHARS = 4_000
"""Characters of a row that the filter looks at."""


class ListState:
    """Cursor and window over rows. With `tail` it follows the last row until the user moves away from it."""

    def __init__(self, *, tail: bool) -> None:
        self.rows: list[Row] = []
        self.cursor = -1
        self.top = 0
        self.tail = tail
        self.follow = tail
        self.steady = False
        """Whether the cursor keeps its row though the list follows: a person is about to decide over it."""
        self.unseen = 0
        self.chosen: set[str] = set()
        self.filter = ""
        self.touched = False
        """Whether the user moved the cursor; until then it stays on the first row (of a stream: the last)."""
        self._all: Sequence[Row] = ()
        self._keys: set[str] = set()
        self._starts: list[int] = [0]
        self._width = 80
        self._height = 10

    def reset(self) -> None:
        """Forget everything: another session is shown."""
        self.__init__(tail=self.tail)  # type: ignore[misc]

    @property
    def total(self) -> int:
        """Lines of all rows that pass the filter."""
        return self._starts[-1]

    @property
    def everything(self) -> int:
        """Selectable rows before the filter."""
        return sum(row.selectable for row in self._all)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    @property
    def chosen_rows(self) -> list[Row]:
        """The chosen rows in order, else the one under the cursor."""
        if self.chosen:
            return [row for row in self._all if row.key in self.chosen]
        return [self.current] if self.current else []

    def update(self, rows: Sequence[Row]) -> None:
        """Take over new rows; cursor, choice and what is in view stay where they were, by key."""
        keys = {row.key for row in rows}
        before = self.current
        if self.steady and before is not None and before.key in keys:
            self.follow = False
        if self.tail and not self.follow:
            self.unseen = min(len(rows), self.unseen + len(keys - self._keys))
        self._all, self._keys = rows, keys
        self.chosen &= keys
        self._apply()
        if self.tail and self.cursor == self._last():
            self.follow, self.unseen = True, 0

    def resize(self, width: int, height: int) -> None:
        """The window is now `width` cells wide and `height` lines high."""
        if (width, height) != (self._width, self._height):
            self._width, self._height = max(1, width), max(1, height)
            self._apply()

    def set_filter(self, text: str) -> None:
        """Show only rows that contain all words of `text`, whatever their case."""
        self.filter = text
        self._apply()

    def _apply(self) -> None:
        key = self.current.key if self.current else None
        offset = self._starts[self.cursor] - self.top if self.current else 0
        self.rows = list(self._passing())
        self._starts = [0, *accumulate(row.height(self._width) for row in self.rows)]
        if self.follow:
            self._stand(len(self.rows) - 1, -1)
            return
        if not self.tail and not self.touched:
            self.top = 0
            self._stand(0, 1)
            return
        found = next((index for index, row in enumerate(self.rows) if row.key == key), None)
        self._stand(found if found is not None else min(max(0, self.cursor), len(self.rows) - 1), 1)
        if self.current:
            self.top = self._starts[self.cursor] - offset
        self._show_cursor()

    def _passing(self) -> Iterator[Row]:
        words = self.filter.casefold().split()
        heading: Row | None = None
        for row in self._all:
            if not row.selectable:
                heading = row
            elif not words or _matches(row, words):
                if heading:
                    yield heading
                    heading = None
                yield row

    def _stand(self, index: int, step: int) -> None:
        """Put the cursor on the selectable row nearest to `index`, first looking in the direction of `step`."""
        for direction in (step, -step):
            at = index
            while 0 <= at < len(self.rows):
                if self.rows[at].selectable:
                    self.cursor = at
                    self._show_cursor()
                    return
                at += direction
        self.cursor, self.top = -1, 0

    def _show_cursor(self) -> None:
        if self.current:
            first = self._starts[self.cursor]
            if self.cursor and not self.rows[self.cursor - 1].selectable:
                first = self._starts[self.cursor - 1]
            last = self._starts[self.cursor + 1]
            self.top = max(min(self.top, first), last - self._height)
        self.top = max(0, min(self.top, self.total - self._height))

    def _settle(self) -> None:
        """After the user moved: follow again exactly when the cursor stands on the last row."""
        self.touched = True
        self.follow = self.tail and self.cursor == self._last()
        if self.follow or not self.tail:
            self.unseen = 0

    def _last(self) -> int:
        return max((index for index, row in enumerate(self.rows) if row.selectable), default=-1)

    def move(self, delta: int) -> None:
        """Move the cursor by `delta` selectable rows."""
        at, step = self.cursor, 1 if delta > 0 else -1
        for _ in range(abs(delta)):
            following = at + step
            while 0 <= following < len(self.rows) and not self.rows[following].selectable:
                following += step
            if not 0 <= following < len(self.rows):
                break
            at = following
        self._stand(at, step)
        self._settle()

    def to_top(self) -> None:
        """Cursor to the first row."""
        self.top = 0
        self._stand(0, 1)
        self._settle()

    def to_bottom(self) -> None:
        """Cursor to the last row; follow what comes."""
        self._stand(len(self.rows) - 1, -1)
        self._settle()

    def page(self, direction: int) -> None:
        """One window down (1) or up (-1), one line of overlap."""
        if not self.current:
            return
        goal = self._starts[self.cursor] + direction * max(1, self._height - 1)
        self._stand(self.row_at_line(max(0, min(goal, self.total - 1))), direction)
        self._settle()

    def to_row(self, index: int) -> None:
        """Cursor to the row with this index, or the next selectable one."""
        self._stand(index, 1)
        self._settle()

    def act(self, action: str) -> bool:
        """Carry out a movement of the table of actions; False when it is none."""
        moves: dict[str, Callable[[], None]] = {
            "down": lambda: self.move(1),
            "up": lambda: self.move(-1),
            "top": self.to_top,
            "bottom": self.to_bottom,
            "page_down": lambda: self.page(1),
            "page_up": lambda: self.page(-1),
        }
        if action not in moves:
            return False
        moves[action]()
        return True

    def scroll(self, lines: int) -> None:
        """Move the window; the cursor is drawn along when it would leave it."""
        self.top = max(0, min(self.top + lines, self.total - self._height))
        first, last = self.row_at_line(self.top), self.row_at_line(self.top + self._height - 1)
        at_end = lines > 0 and self.top + self._height >= self.total
        if self.cursor > last or at_end:
            self._stand(last, -1)
        elif self.cursor < first:
            self._stand(first, 1)
        self._settle()

    def jump(self, fraction: float) -> None:
        """Scroll to this part of the whole, 0 to 1."""
        self.scroll(round(fraction * max(0, self.total - self._height)) - self.top)

    def row_at_line(self, line: int) -> int:
        """Index of the row that covers `line`, counted from the first row's first line."""
        low, high = 0, max(0, len(self.rows) - 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._starts[middle] <= line else (low, middle - 1)
        return low

    def click(self, line: int) -> bool:
        """Put the cursor on the row at this line of the window; False when there is none."""
        if not 0 <= self.top + line < self.total:
            return False
        index = self.row_at_line(self.top + line)
        if not self.rows[index].selectable:
            return False
        self._stand(index, 1)
        self._settle()
        return True

    def choose(self) -> None:
        """Choose the row under the cursor, or drop it from the choice, and go on to the next."""
        if self.current:
            self.chosen ^= {self.current.key}
            self.move(1)

    def choose_all(self, only: type | None = None) -> None:
        """Choose every row (`only`: of this kind) that passes the filter; a second time: none."""
        keys = {row.key for row in self.rows if row.selectable and (only is None or isinstance(row, only))}
        self.chosen = set() if keys <= self.chosen else self.chosen | keys

    def visible(self) -> Iterator[tuple[int, Row, int]]:
        """Index, row and line within the row, for each line of the window from its top."""
        index = self.row_at_line(self.top)
        line = self.top
        while line < min(self.total, self.top + self._height):
            while self._starts[index + 1] <= line:
                index += 1
            yield index, self.rows[index], line - self._starts[index]
            line += 1


def _matches(row: Row, words: list[str]) -> bool:
    text = row.text()[:_FILTERED_CHARS].casefold()
    return all(word in text for word in words)
