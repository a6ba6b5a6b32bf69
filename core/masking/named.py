"""Values of key-like names: assignments, fields, attributes, options."""

from __future__ import annotations

import re
from typing import Final, Literal

from core.masking.judging import Family, is_secret

_STEM: Final = re.compile(
    r"pass(?:[_-]?(?:word|phrase|wort|code|key)|wd)?|pwd|pw|psk|secret|credential|token|key|jwt|session[_-]?id|signature|sig|auth"
    r"|kennwort|mot[_ ]?de[_ ]?passe|contrase[nñ]a|palavra[_-]passe|senha|парол[ья]|密[码碼]|口令|パスワード|비밀번호"
    r"|hasło|parola|wachtwoord|lösenord|[sş]ifre|كلمة المرور"
)
"""What a key-like name has in it, in small letters."""

_WHOLE: Final = frozenset({"pwd", "pw", "psk", "jwt", "senha", "parola", "sifre", "şifre"})
"""Stems that are no names when a letter stands before them."""

_BETWEEN: Final[dict[str, tuple[re.Pattern[str], Family]]] = {
    "signature": (re.compile("\0="), "token"),
    "sig": (re.compile("[?&]\0="), "token"),
    "auth": (re.compile(r"[\"']\x00\\{0,2}[\"']|(?<![a-z])_\x00"), "key"),
    "pass": (re.compile(r"[_-]\x00|(?<![^\W\d_])\x00[\"':=]"), "password"),
}
"""Short stems that are names between certain characters only; NUL stands for the stem."""

_FAMILIES: Final[dict[str, Family]] = {
    **dict.fromkeys(("secret", "credential"), "secret"),
    **dict.fromkeys(("token", "jwt"), "token"),
}

_SECRET_KEY: Final = re.compile(
    r"(?:api|access|private|auth|signing|encryption|session|account|storage|master|shared|service|license|webhook|hmac"
    r"|vault|deploy|admin|consumer|app|unseal|recovery|pre-?shared|symmetric|decryption|aes|cipher|crypto|fernet|root)"
    r"[_ -]?\Z"
)
_NO_SECRET: Final = re.compile(
    r"(?:public|pub|primary|foreign|partition|sort|cache|dist|group|row|hash|idempotency|object|index|lookup|unique"
    r"|search|range|routing|host|translation|event|dedup|order|registry)[_ -]?\Z"
)
"""What before `key` or `secret` says that it opens no door."""

_SUFFIX: Final = (
    r"(?i:[_-]?key[_-]data(?![a-z])|[_-](?:key|value|data|prod|dev|test|live|staging|default|base|base64|b64|hex|plain)"
    r"(?![a-z])|s?[_-]?key(?![a-z])|[ _-]?id(?=[\"']?[ \t]*[=:])|s?[_ -]?[0-9]{1,3}(?![0-9a-z])"
    r"|s(?=[\"']?[ \t]?[=:]))?"
)
_SIGN: Final = re.compile(
    _SUFFIX
    + r"""(?x: (?:\\{0,2}["'`])? \]? (?P<sign>
      [ \t]? [:=] [ \t]{0,4} [|>][+-]?\n [ \t]{1,16}
    | [ \t]{0,8} (?: :[ \t]?[A-Za-z][A-Za-z\[\]| ]{0,24}=(?!=) | => | := | \?= | =(?!=) | (?<!:):(?!:) | ： )
      [ \t]{0,8} (?: \[[ \t]?(?=["']) )?
    | [ \t](?:is|was|to|ist|lautet|est|es|è):?[ \t](?:now[ \t])?
    | [ \t](?:for|of|für|pour|de|para|von|\()[ \t]?[^\n:=]{1,40}?(?:[:=]|[ \t]is:?)[ \t]
    | [ \t]{0,4}\n?[ \t]{1,12}value[ \t]{0,4}[=:][ \t]{0,4}
    | >(?=[^<\n]{1,200}</)
    | (?P<blank> [ \t]{1,24} ) ))"""
)
_QUOTED: Final = re.compile(r"[bruf]{0,2}(?P<open>\\{0,2}[\"'`])(?P<value>(?:(?!(?P=open))[^\n])*+)(?P=open)")
_BARE: Final = re.compile(r"(?:[^\s\"'`,;<>()\[\]{}|&\\]|&(?![\w.%-]{1,64}=)|\\(?![nrt\"']))++")
_OPTION: Final = re.compile(r"(?:\A|[\s\"'])--?[\w-]*\Z")
_LEAST_SIGNATURE: Final = 32
_CAPITALS: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def mask_named(text: str) -> str:
    """Replace the values of key-like names that look like secrets; takes linear time."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.translate(_CAPITALS)
    pieces: list[str] = []
    done = at = 0
    while stem := _STEM.search(lower, at):
        at = stem.end()
        sign = _SIGN.match(text, at)
        family = _family(stem[0], lower[max(0, stem.start() - 16) : stem.start()], text[at : at + 3]) if sign else ""
        if not sign or not family:
            continue
        start, end, at = _value(text, sign.end())
        if sign["blank"]:
            at = start  # what follows a blank may be the next name
        if start < end and _is_masked(text, stem, family, sign, (start, end)):
            pieces += (text[done:start], f"[masked:{_kind(stem, family, lower)}]")
            done = at = end
    return "".join((*pieces, text[done:]))


def _family(stem: str, before: str, after: str) -> Family | Literal[""]:
    """What kind of name a stem is part of, by what stands before and after it; nothing when it is none."""
    if stem == "key":
        return _family_of_key(before)
    if stem in _BETWEEN:
        where, family = _BETWEEN[stem]
        return family if where.search(f"{before}\0{after}") else ""
    if stem == "token" and before.endswith("publickey"):
        return ""
    if stem in _WHOLE and before[-1:].isalpha() and not before.endswith("mysql_"):
        return ""
    return _FAMILIES.get(stem, "token" if stem.startswith("session") else "password")


def _family_of_key(before: str) -> Family | Literal[""]:
    if _NO_SECRET.search(before):
        return ""
    if _SECRET_KEY.search(before):
        return "secret"
    return "key" if re.search(r"[\w-]\Z", before) else ""


def _value(text: str, at: int) -> tuple[int, int, int]:
    """Start and end of a value, and where to look on when it is none: in quotation marks, behind a bare one."""
    if quoted := _QUOTED.match(text, at):
        return quoted.start("value"), quoted.end("value"), quoted.start("value")
    bare = _BARE.match(text, at)
    if not bare:
        return at, at, at
    end = bare.end()
    return (at, at, end) if text.startswith(("(", "["), end) and not text.startswith("[masked", end) else (at, end, end)


def _is_masked(text: str, stem: re.Match[str], family: Family, sign: re.Match[str], place: tuple[int, int]) -> bool:
    value, quoted = text[place[0] : place[1]], place[0] > sign.end()
    if sign["blank"] and not _is_option(text, stem.start()):
        return family in ("password", "secret") and is_secret("key", value)
    if stem[0].startswith("sig") and len(value) < _LEAST_SIGNATURE:
        return False
    environment = sign["sign"] == "=" and text[stem.start() : stem.end()].isupper()
    return is_secret(family, value, quoted=quoted, environment=environment)


def _is_option(text: str, at: int) -> bool:
    """Whether the name around `at` begins with a hyphen: its value follows after a blank."""
    return _OPTION.search(text, max(0, at - 40), at) is not None


def _kind(stem: re.Match[str], family: Family, lower: str) -> str:
    """The name itself where it is plain, else its family."""
    if family == "secret" and stem[0] == "key":
        before = _SECRET_KEY.search(lower[max(0, stem.start() - 16) : stem.start()])
        return re.sub("[_ -]*$", "", before[0]) + "-key" if before else "key"
    plain = stem[0].replace("_", "-").replace(" ", "-")
    return plain if re.fullmatch("[a-z]+(?:-[a-z]+)*", plain) and plain != "auth" else family
