"""Where an OpenCode server is and how to be let in: addresses and passwords as users write them.

A password is sent only to the address it was given for; it never shows in a `repr`, an error or a log.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import msgspec

from core.errors import FileError, UsageError

DEFAULT_USERNAME = "opencode"
"""User name of OpenCode's Basic authentication unless OPENCODE_SERVER_USERNAME says otherwise."""

_MAX_PASSWORD_FILE = 64 * 1024


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """User name and password for HTTP Basic authentication."""

    password: str
    username: str = DEFAULT_USERNAME

    def __repr__(self) -> str:
        """The user name only."""
        return f"Credentials(username={self.username!r}, password=…)"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Base address of a server: `url` has no credentials, query, fragment or closing slash."""

    url: str
    credentials: Credentials | None = None
    token: str = ""
    """Of a door that the plugin opened; sent as a bearer token."""

    def __repr__(self) -> str:
        """Without the token."""
        return f"Address(url={self.url!r}, credentials={self.credentials!r})"


def is_loopback(address: Address) -> bool:
    """Whether the host is this machine, by its name or number."""
    host = urlsplit(address.url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def parse_address(text: str) -> Address:
    """Read a server address: a URL, `host:port`, or a port alone (then on 127.0.0.1).

    Raises:
        UsageError: it is no http or https address.
    """
    written = text.strip()
    if written.isascii() and written.isdigit():
        written = f"127.0.0.1:{written}"
    if "://" not in written:
        written = f"http://{written}"
    try:
        parts = urlsplit(written)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _no_address(text) from error
    if parts.scheme not in {"http", "https"} or not host or port == 0 or not written.isprintable() or " " in written:
        raise _no_address(text)
    netloc = f"[{host}]" if ":" in host else host
    if port is not None:
        netloc = f"{netloc}:{port}"
    credentials = None
    if parts.password is not None:
        name = unquote(parts.username or "") or DEFAULT_USERNAME
        credentials = Credentials(username=name, password=unquote(parts.password))
    return Address(url=f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}", credentials=credentials)


def _no_address(text: str) -> UsageError:
    shown = "…" if "@" in text else repr(text[:200])
    return UsageError(f"{shown} is not the address of a server", "Write for example http://127.0.0.1:4096.")


def find_credentials(environ: Mapping[str, str] | None = None, password_file: Path | None = None) -> Credentials | None:
    """The credentials the user gave, or None: a password file wins over OPENCODE_SERVER_PASSWORD.

    `environ` defaults to the process's environment. An empty variable counts as not set.

    Raises:
        FileError: the password file cannot be read or is empty.
    """
    variables = os.environ if environ is None else environ
    password = variables.get("OPENCODE_SERVER_PASSWORD", "")
    if password_file is not None:
        password = _read_password(password_file)
    if not password:
        return None
    username = variables.get("OPENCODE_SERVER_USERNAME") or DEFAULT_USERNAME
    return Credentials(username=username, password=password)


def _read_password(path: Path) -> str:
    """First line of the file."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_PASSWORD_FILE).decode()
    except UnicodeDecodeError as error:
        raise FileError(f"The password file {path} is not UTF-8 text", "Put the password on its first line.") from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"Cannot read the password file {path}: {reason}", "Check --password-file.") from error
    password = text.removeprefix("\ufeff").split("\n", 1)[0].removesuffix("\r")
    if not password:
        raise FileError(f"The first line of the password file {path} is empty", "Put the password there.")
    return password


def directory_query(directory: str) -> str:
    """Value of OpenCode's `directory` parameter, ready to stand in a query string.

    OpenCode 1.18.33 decodes this value twice, so a percent sign of the path itself has to be encoded twice.
    """
    return quote(directory.replace("%", "%25"), safe="/", errors="surrogateescape")
