"""A ledger seen through its dump file: for a screen (:class:`WatchHost`) or as JSON lines (:func:`lines`)."""

from core.watching.host import WatchHost
from core.watching.lines import lines

__all__ = ["WatchHost", "lines"]
