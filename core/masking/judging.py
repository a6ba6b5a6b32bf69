"""Whether the value of a key-like name is a secret, or a word, a file, a reference or a placeholder."""

from __future__ import annotations

import re
from typing import Final, Literal

Family = Literal["password", "secret", "token", "key"]
"""What the name says: passwords may be weak; many tokens are a model's, many keys a table's, so they must be long."""

_NO_VALUE: Final = re.compile(
    r"""(?ix) [$<\[({@#] .* | %[A-Z_]\w*%? | %\( .* | [x.*…•_?\\-]+ | (?: x{3,} | \.{3} | … ) .*
    | (?: your | my[-_] | change[-_]?me | replace[-_]?me
        | example | dummy | placeholder | redacted | insert[-_] | todo ) .*
    | .* (?: \[masked: | :// | redacted | xxxxx ) .*
    | (?: os\.environ | process\.env | getenv | settings | config | secrets | vars? | data | local | self | this | env
        | args | opts | options | request | req | params | props | input | ctx )[.\[(] .*
    | (?: arn: | ssm: | vault: | op: | file: | secret/ | projects/ | keyring: | sha(?:1|256|384|512)[:-] | md5: ) .*"""
)
_FILE_NAME: Final = re.compile(
    r"(?:~|\.{1,2})?/[\w.@ +-]*(?:/.*)?|[^!@#$%^&*+=]*\.[A-Za-z]{2,5}|(?:[\w.-]+/)+[\w.-]*\.\w+"
)
_CODE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+;?")
_WORDS: Final = re.compile(
    r"[A-Za-z]+(?:[-_./: ][A-Za-z]+)*(?:[-_./: ]?v?[0-9]{1,4})?|[A-Z][A-Za-z]*[0-9]{1,3}(?:[A-Z][a-z]{2,})+"
)
_PLAIN_WORDS: Final = re.compile(
    "required|optional|string|password|secret|token|none|null|true|false|undefined|hidden|invalid|incorrect|enabled"
    "|disabled|default|missing|expired|changed|unset|empty|prompt|value|text|input|bytes|number|integer|boolean|object"
    "|varchar|unknown|denied|failed|success|accepted|rejected|ignored|forgotten|reset|confirm|stdin|never|always|auto"
    "|bearer|basic|plain|random|generated",
    re.IGNORECASE,
)
_HEX: Final = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_SIGNS: Final = re.compile(r"[^\w\s.,:/-]")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?|[0-9.:+_-]+[a-z%]{0,3}")
_LOOKED_AT: Final = 4_096


def is_secret(family: Family, value: str, *, quoted: bool = False, environment: bool = False) -> bool:
    """Judge a value by the family of its name.

    `quoted`: it stood in quotation marks; `environment`: it was assigned to a name in capitals, as a shell does it.
    """
    value = value[:_LOOKED_AT]
    if _NO_VALUE.fullmatch(value) or (_FILE_NAME.fullmatch(value) and not is_dense(value)):
        return False
    if not quoted and _CODE.fullmatch(value):
        return False
    if family == "password":
        return _is_password(value, quoted, environment)
    if family == "secret":
        return _is_strong(value, environment)
    if family == "token":
        return (
            len(value) >= 16
            and len(set(value)) >= 8
            and _is_mixed(value)
            and not re.search(r"\s", value)
            and not _WORDS.fullmatch(value)
        )
    return is_dense(value) or (len(value) >= 32 and _HEX.fullmatch(value) is not None)


def is_dense(value: str) -> bool:
    """Whether a value of at least 20 characters looks like random base64: capitals, small letters and digits in one."""
    return (
        len(value) >= 20
        and re.fullmatch(r"[A-Za-z0-9+/=_-]+", value) is not None
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
        and _has_digit(value)
        and len(set(value)) >= 12
        and not _WORDS.fullmatch(value)
    )


def _is_password(value: str, quoted: bool, environment: bool) -> bool:
    if len(value) < 5 or _PLAIN_WORDS.fullmatch(value) or value.count(" ") > (4 if quoted else 0):
        return False
    if _is_mixed(value):
        return True
    if not any(map(str.isalpha, value)):
        return len(value) >= 6 and value.isdigit() and (quoted or environment)
    return environment or (_SIGNS.search(value) is not None and " " not in value)


def _is_strong(value: str, environment: bool) -> bool:
    if len(value) < 8 or len(set(value)) < 5 or " " in value or _DATE.fullmatch(value):
        return False
    if environment and not _PLAIN_WORDS.fullmatch(value) and not value.isdigit():
        return True
    return (_is_mixed(value) or (len(value) >= 16 and _SIGNS.search(value) is not None)) and not _WORDS.fullmatch(value)


def _is_mixed(value: str) -> bool:
    return _has_digit(value) and any(map(str.isalpha, value))


def _has_digit(value: str) -> bool:
    return re.search("[0-9]", value) is not None
