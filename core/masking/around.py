"""Secrets that their place gives away: addresses, headers, cookies, arguments of commands, lines of password files."""

from __future__ import annotations

import re
from typing import Final

from core.masking.judging import is_secret

_URL_PASSWORD: Final = re.compile(r"(://[^\s/:@\"'<>?#]{0,128}:)([^\s/\"'<>?#]{1,256})(?=@[\w.\[-])")
_URL_USER: Final = re.compile(r"(://)([A-Za-z0-9_+=-]{20,128})(?=(?::(?:x-oauth-basic)?)?@[\w.\[-])")
_AUTHORIZATION: Final = re.compile(
    r"(?i)(authorization\\?[\"']?[ \t]{0,4}[:=,][ \t]{0,4}\\?[\"']?)"
    r"((?:basic|bearer|token|apikey|negotiate|key|bot)[ \t]{1,4})?([^\s\"',;\\()]{6,}+)(?![(\[])"
)
_BEARER: Final = re.compile(r"(?i)(\bbearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{12,})")
_DIGEST: Final = re.compile(r"(?i)(\bresponse=\")([0-9a-f]{32,})(?=\")")
_COOKIE: Final = re.compile(r"(?i)\b(?:set-)?cookie[\"']?[ \t]{0,4}[:=][ \t]{0,4}[^\r\n]+")
_COOKIE_PAIR: Final = re.compile(
    r"(?i)((?<![\w.-])[\w.-]{0,40}(?:sess|sid|auth|token|csrf|xsrf|jwt|remember|logged|login|ticket)[\w.-]{0,40}=)([^\s;,\"']{8,})"
)
_QUERY: Final = re.compile(r"([?&](?:api[_-]?)?key=)([A-Za-z0-9_-]{16,})")
_VALUE: Final = r"(\"[^\"\n]{3,}\"|'[^'\n]{3,}'|[^\s\"']{3,})"
_QUOTED: Final = r"(\"[^\"\n]{3,}\"|'[^'\n]{3,}')"
_BARE: Final = r"()([^\s\"']{3,})"
_ARGUMENTS: Final = (
    ("sshpass", rf"(\bsshpass[^\n|;&]{{0,80}}?[ \t]-p[ \t]?){_VALUE}"),
    ("mysql", rf"(\bmysql\w*\b[^\n|;&<>]{{0,160}}?[ \t]-p){_VALUE}"),
    ("mariadb", rf"(\bmariadb[\w-]*[^\n|;&<>]{{0,160}}?[ \t]-p){_VALUE}"),
    ("redis-cli", rf"(\bredis-cli\b[^\n|;]{{0,120}}?[ \t](?:-a|--pass)[ \t]){_VALUE}"),
    ("login", rf"(\blogin\b[^\n|;&]{{0,160}}?[ \t](?:-p|--password)[ \t=]){_VALUE}"),
    ("mongo", rf"(\bmongo\w*\b[^\n|;&]{{0,160}}?[ \t]-p[ \t]){_VALUE}"),
    ("ldap", rf"(\bldap\w+\b[^\n|;&]{{0,160}}?[ \t]-w[ \t]){_VALUE}"),
    ("zip", rf"(\b(?:un)?zip\b[^\n|;&]{{0,160}}?[ \t]-P[ \t]?){_VALUE}"),
    ("7z", rf"(\b7z[ar]?\b[^\n|;&]{{0,160}}?[ \t]-p){_VALUE}"),
    ("curl", rf"(\bcurl\b[^\n|;]{{0,200}}?[ \t](?:-u|--user|-U|--proxy-user)[ \t=]?[\"']?[^\s:\"']{{1,80}}:){_BARE}"),
    ("htpasswd", rf"(\bhtpasswd\b[^\n|;&]{{0,80}}?[ \t]-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+){_BARE}"),
    ("openssl", rf"(\bopenssl\b[^\n|;&]{{0,200}}?[ \t\"']pass:){_BARE}"),
    (
        "chpasswd",
        r"(\becho[ \t]+(?:-n[ \t]+)?[\"']?[\w.-]{1,40}:)()([^\s\"'|]{3,})(?=[\"']?[ \t]*\|[^\n]{0,40}chpasswd)",
    ),
    ("sudo -S", rf"(\becho[ \t]+(?:-n[ \t]+)?){_VALUE}(?=[ \t]*\|[ \t]*sudo -S)"),
    ("ssh-keygen", rf"(\bssh-keygen\b[^\n|;&]{{0,160}}?[ \t]-[NP][ \t]){_VALUE}"),
    ("sqlplus", rf"(\bsqlplus\b[^\n|;&]{{0,60}}?[ \t]\w{{1,40}}/){_BARE}"),
    ("SecureString", rf"(\bConvertTo-SecureString(?: -String)?[ \t]+){_VALUE}"),
    ("net user", rf"(?i)(\bnet user[ \t]+\S{{1,60}}[ \t]+)(?!/){_VALUE}"),
    ("auth=(", rf"(\bauth=\([ \t]*[\"'][^\"'\n]{{1,60}}[\"'],[ \t]*){_QUOTED}"),
    ("BasicAuth(", rf"(BasicAuth\([ \t]*[\"'][^\"'\n]{{1,60}}[\"'],[ \t]*){_QUOTED}"),
    ("IDENTIFIED", rf"(\bIDENTIFIED (?:WITH \w+ )?BY ){_QUOTED}"),
    ("machine ", rf"(\bmachine[ \t\n]+\S+[ \t\n]+login[ \t]+\S+[ \t\n]+password[ \t]+){_BARE}"),
)
"""A word that has to be there, and how the command is given a password; :mod:`re` keeps the compiled patterns."""

_PHRASE: Final = re.compile(
    r"(?i)(\b(?:mnemonic|(?:seed|recovery)[ _-](?:phrase|words))[\"']?[ \t]*(?:[=:]|is)[ \t]*[\"']?)"
    r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})"
)
_PGPASS_HINT: Final = re.compile(r":(?:54[0-9]{2}|6432|\*):[\w*-]{1,60}:")
_PGPASS: Final = re.compile(
    r"(?m)^([ \t]*[\w.*-]{1,100}:(?:54[0-9]{2}|6432|\*):[\w*-]{1,60}:[\w*.-]{1,60}:)([^\s:]{4,})(?=[ \t]*$)"
)


def mask_addresses(text: str) -> str:
    """Replace passwords and tokens in URLs."""
    if "://" in text:
        text = _URL_PASSWORD.sub(
            lambda found: found[1] + _masked(found[2], "password", _is_url_password(found[2])), text
        )
        text = _URL_USER.sub(lambda found: found[1] + _masked(found[2], "token", is_secret("key", found[2])), text)
    if "key=" in text:
        text = _QUERY.sub(lambda found: found[1] + _masked(found[2], "api-key", is_secret("token", found[2])), text)
    return text


def mask_headers(text: str) -> str:
    """Replace credentials in Authorization and Cookie headers."""
    lower = text.lower()
    if "authorization" in lower:
        text = _AUTHORIZATION.sub(_mask_authorization, text)
    if "bearer" in lower:
        text = _BEARER.sub(lambda found: found[1] + _masked(found[2], "bearer", _has_digit(found[2])), text)
    if "digest" in lower:
        text = _DIGEST.sub(lambda found: f"{found[1]}[masked:digest]", text)
    if "cookie" in lower:
        text = _COOKIE.sub(lambda header: _COOKIE_PAIR.sub(_mask_cookie, header[0]), text)
    return text


def mask_arguments(text: str) -> str:
    """Replace passwords that commands are given, and those of `.pgpass` and `.netrc`."""
    for program, pattern in _ARGUMENTS:
        if program in text:
            text = re.sub(pattern, _mask_argument, text)
    if "nemonic" in text or "hrase" in text:
        text = _PHRASE.sub(lambda found: f"{found[1]}[masked:phrase]", text)
    return _PGPASS.sub(_mask_argument, text) if _PGPASS_HINT.search(text) else text


def _is_url_password(value: str) -> bool:
    return not (value.isdigit() and len(value) < 6) and not value.startswith(("$", "{", "<", "[", "*", "...", "xxx"))


def _masked(value: str, kind: str, secret: bool = True) -> str:
    return f"[masked:{kind}]" if secret and not _is_reference(value) else value


def _is_reference(value: str) -> bool:
    value = value.strip("\"'")
    lower = value.lower()
    return (
        lower.startswith(("$", "*", "<", "{", "[", "...", "xxx", "your", "%(", "@"))
        or re.fullmatch(r"%[A-Z_]+%?", value) is not None
        or "[masked:" in value
    )


def _mask_authorization(found: re.Match[str]) -> str:
    scheme = found[2] or ""
    secret = (bool(scheme) and len(found[3]) >= 8) or (
        _has_digit(found[3]) and len(found[3]) >= 8 and "-" not in found[3]
    )
    return found[1] + scheme + _masked(found[3], "authorization", secret)


def _mask_cookie(found: re.Match[str]) -> str:
    return found[1] + _masked(found[2], "cookie", _has_digit(found[2]) and len(found[2]) >= 16)


def _mask_argument(found: re.Match[str]) -> str:
    value = found[found.lastindex or 2]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{found[1]}{quote}{_masked(value.strip(quote) if quote else value, 'password')}{quote}"


def _has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)
