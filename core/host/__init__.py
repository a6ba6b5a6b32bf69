"""The host: runs a ledger for each root session of one project on one OpenCode server."""

from core.host.host import Host
from core.host.options import HostOptions

__all__ = ["Host", "HostOptions"]
