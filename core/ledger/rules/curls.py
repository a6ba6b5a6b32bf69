"""What `curl` was asked, as far as its arguments tell."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from core.ledger.rules.options import Options, options_of, words
from core.ledger.rules.shown import UNKNOWN

_VALUED: Final = words("""
    -A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --data --data-raw
    --data-binary --data-urlencode --json --header --request --output --user --user-agent --cookie --cookie-jar
    --max-time --connect-timeout --retry --retry-delay --write-out --dump-header --form --upload-file --proxy
    --resolve --cacert --cert --key --url --referer --range --interface --limit-rate --unix-socket --connect-to
    --max-redirs
""")
_BODY: Final = ("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "-F", "--form")


class Request(msgspec.Struct, frozen=True):
    """One request of curl."""

    method: str
    url: str
    given: Options

    @property
    def path(self) -> str:
        """Path of the URL without its query; `/` when there is none."""
        rest = re.sub(r"^[A-Za-z][\w+.-]*://", "", self.url)
        _, slash, path = rest.partition("/")
        return re.split(r"[?#]", slash + path, maxsplit=1)[0] or "/"

    @property
    def name(self) -> str:
        """Method and URL, for people."""
        return f"{self.method} {self.url}"


def request_of(args: tuple[str, ...]) -> Request | None:
    """The request; None when there is not exactly one, to a URL that is known."""
    given = options_of(args, _VALUED)
    urls = [*given.operands, *([given.value("--url")] if given.value("--url") else [])]
    if len(urls) != 1 or given.any("-K", "--config", "-:", "--next", "-Z", "-h", "--help", "-V", "--version"):
        return None
    url = urls[0].removeprefix(UNKNOWN)
    if "$" in url or re.search(r"[{}\[\]*\s]", url) or not url:
        return None
    return Request(_method(given), url, given)


def _method(given: Options) -> str:
    if asked := given.value("-X", "--request"):
        return asked.upper()
    if given.any("-I", "--head"):
        return "HEAD"
    if given.any("-T", "--upload-file"):
        return "PUT"
    return "POST" if given.any(*_BODY) and not given.any("-G", "--get") else "GET"
