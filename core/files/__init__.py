"""Whether files on disk still hold what they held: :class:`FileWatch`."""

from core.files.watch import FileWatch

__all__ = ["FileWatch"]
