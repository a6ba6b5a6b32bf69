"""Secrets in outside text, replaced by ``[masked:KIND]``; import it through :mod:`core.text`."""

from __future__ import annotations

import re
from typing import Final

_TOKENS: Final = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:
      (?P<github_token> gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} )
    | (?P<gitlab_token> glpat-[A-Za-z0-9_-]{16,} )
    | (?P<aws_key> (?:AKIA|ASIA)[A-Z0-9]{16} (?![A-Za-z0-9]) )
    | (?P<slack_token> xox[abeoprs]-[A-Za-z0-9-]{10,} )
    | (?P<google_key> AIza[A-Za-z0-9_-]{35} )
    | (?P<hugging_face_token> hf_[A-Za-z0-9]{24,} )
    | (?P<npm_token> npm_[A-Za-z0-9]{30,} )
    | (?P<jwt> eyJ[A-Za-z0-9_-]{8,}+ \. [A-Za-z0-9_-]{8,}+ \. [A-Za-z0-9_-]*+ )
    | (?P<api_key> sk[-_](?=[A-Za-z_-]*+[0-9])[A-Za-z0-9_-]{16,} )
    )""",
    re.VERBOSE,
)
"""Tokens that their prefix gives away. All start at the beginning of a run of token characters: linear time."""
_TOKEN_STARTS: Final = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "xox", "AIza", "hf_", "npm_"),
    *("eyJ", "sk-", "sk_"),
)

_PEM: Final = re.compile(
    r"-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*+"
    r"(?:-----END [A-Z ]{0,40}-----)?"
)
_PEM_END: Final = re.compile(r"-----END (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BASE64_LINE: Final = re.compile(r"[A-Za-z0-9+/=]+")

_URL_PASSWORD: Final = re.compile(r"(://[^\s/:@\"'<>]{0,128}:)([^\s/@\"'<>]{1,256})(?=@)")
_AUTHORIZATION: Final = re.compile(
    r"(?i)(authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?)((?:basic|bearer|token|apikey)[ \t]{1,4})?([^\s\"',;]{6,})"
)
_BEARER: Final = re.compile(r"(?i)(\bbearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{12,})")
_ASSIGNED: Final = re.compile(
    r"""(?ix)
    ( (?P<name> password | passwd | passphrase | pwd | secret | token | credential
              | (?:api|access|private|auth)[_-]?key )
      (?: [_-](?:key|value|prod|dev|test|live|staging|default|b64|hex) | s? [_-]?[0-9]{1,3} )?
      ["']? [ \t]{0,8} (?: => | := | = | : ) [ \t]{0,8} ["']? )
    (?P<value> [^\s"'`,;<>()\[\]{}]{6,} ) (?! [(\[] )
    """
)
"""A key-like name, a sign of assignment and a value; whether the value is a secret is judged by `_looks_random`."""

_ASSIGNED_NAMES: Final = ("passw", "passphrase", "pwd", "secret", "token", "credential", "key")

_FILE_NAME: Final = re.compile(r"(?:~|\.{1,2})?/.*|.*\.[A-Za-z]{2,5}")
_PLACEHOLDER: Final = ("$", "%", "*", "<", "{", "[", "...", "xxx", "your")


def mask(text: str) -> str:
    """Replace what looks like a secret: keys and tokens of known form, passwords in URLs, headers, assignments, PEM.

    Hashes, UUIDs, commit ids, file names and plain numbers stay unless a key-like name is assigned to them. Masking
    twice changes nothing more. Takes linear time.
    """
    if "PRIVATE KEY" in text:
        text = _mask_pem(text)
    # Most texts have none of these: looking for plain strings first is cheaper than the searches it saves.
    if any(start in text for start in _TOKEN_STARTS):
        text = _TOKENS.sub(lambda found: f"[masked:{(found.lastgroup or 'token').replace('_', '-')}]", text)
    if "://" in text:
        text = _URL_PASSWORD.sub(lambda found: found[1] + _masked(found[2], "password"), text)
    lower = text.lower()
    if "authorization" in lower:
        text = _AUTHORIZATION.sub(_mask_authorization, text)
    if "bearer" in lower:
        text = _BEARER.sub(lambda found: found[1] + _masked(found[2], "bearer", _has_digit(found[2])), text)
    return _ASSIGNED.sub(_mask_assigned, text) if any(name in lower for name in _ASSIGNED_NAMES) else text


def _masked(value: str, kind: str, secret: bool = True) -> str:
    if not secret or value.lower().startswith(_PLACEHOLDER):
        return value
    return f"[masked:{kind}]"


def _mask_authorization(found: re.Match[str]) -> str:
    scheme = found[2] or ""
    return found[1] + scheme + _masked(found[3], "authorization", bool(scheme) or _has_digit(found[3]))


def _mask_assigned(found: re.Match[str]) -> str:
    name = found["name"].lower().replace("_", "-")
    return found[1] + _masked(found["value"], name, _looks_random(name, found["value"]))


def _has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _looks_random(name: str, value: str) -> bool:
    """Whether a value has letters and digits and is no file name; a `token` must be long, as many are model tokens."""
    if _FILE_NAME.fullmatch(value) or not _has_digit(value) or not any(char.isalpha() for char in value):
        return False
    return name != "token" or (len(value) >= 16 and len(set(value)) >= 8)


def _mask_pem(text: str) -> str:
    """Private key blocks, also those whose beginning or end is missing because the text was cut."""
    text = _PEM.sub("[masked:private-key]", text)
    pieces: list[str] = []
    start = 0
    for found in _PEM_END.finditer(text):
        pieces += [_without_base64_lines(text[start : found.start()]), "[masked:private-key]"]
        start = found.end()
    return "".join([*pieces, text[start:]])


def _without_base64_lines(text: str) -> str:
    lines = text.split("\n")
    while lines and (not lines[-1] or _BASE64_LINE.fullmatch(lines[-1])):
        lines.pop()
    return "\n".join([*lines, ""]) if lines else ""
