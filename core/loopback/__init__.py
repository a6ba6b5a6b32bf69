"""A small HTTP/1.1 server on asyncio and h11, for this machine only.

It binds to a loopback address, refuses requests a browser page could have sent (foreign `Host`, any `Origin`), and puts
a bound on everything a client decides: size and duration of headers and body, number of connections, time to take an
answer. A handler gets the whole request and returns a :class:`Response`, whose body may be a stream.
"""

from core.loopback.messages import Limits, Refusal, Request, Response
from core.loopback.server import Handler, LoopbackServer

__all__ = ["Handler", "Limits", "LoopbackServer", "Refusal", "Request", "Response"]
