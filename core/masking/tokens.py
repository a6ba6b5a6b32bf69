"""Tokens and keys that their own form gives away, whatever stands around them."""

from __future__ import annotations

import re
from typing import Final

_ROWS: Final = """
    github-token 20 ghp_ gho_ ghu_ ghs_ ghr_ github_pat_
    gitlab-token 16 glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glimt- glagent- glffct- glwt- gloas- gldt_
    slack-token 10 xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxb- xoxe.xoxp- xoxp- xoxr- xoxs- xapp-
    api-key 16 sk- sk_ rk_live_ rk_test_ rk_prod_ pk_live_ whsec_ gsk_ xai- csk- pplx- fw_ r8_ nvapi- tgp_v1_ apify_api_
    api-key 20 rnd_ re_ phx_ sgp_ pcsk_ lin_api_ figd_ ntn_ secret_ dvc_server_ samsara_api_ BSA ABSK exa_ fc- tvly-
    api-key 24 jina_ vck_ vcp_ vci_ vca_ vcr_ sb_secret_ sbp_ pscale_tkn_ pscale_pw_ pscale_oauth_ os_v2_app_ nyk_
    hugging-face-token 24 hf_ api_org_
    npm-token 30 npm_
    pypi-token 30 pypi-
    rubygems-token 30 rubygems_
    crates-token 28 cio
    nuget-token 40 oy2
    docker-token 20 dckr_pat_ dckr_oat_ SWMTKN-1- SWMKEY-1-
    digitalocean-token 32 dop_v1_ doo_v1_ dor_v1_
    databricks-token 32 dapi
    cloudflare-token 40 cfut_ cfat_ v1.0-
    heroku-token 40 HRKU-
    shopify-token 30 shpat_ shpca_ shppa_ shpss_
    square-token 22 sq0atp- sq0csp- EAAA
    facebook-token 80 EAAM EAAC EAAG
    postman-key 40 PMAK-
    sendinblue-key 60 xkeysib- xsmtpsib-
    mailgun-key 32 key-
    twilio-key 32 SK
    grafana-token 32 glc_ glsa_
    newrelic-key 20 NRAK- NRII- NRJS- NRRA-
    sentry-token 40 sntrys_ sntryu_
    pulumi-token 36 pul-
    prefect-token 32 pnu_ pnb_
    planetscale-token 30 pscale_
    linear-key 30 lin_oauth_
    typeform-token 40 tfp_
    airtable-key 14 patAirtable
    tailscale-key 16 tskey-api- tskey-auth- tskey-client- tskey-scim-
    dropbox-token 60 sl.
    circleci-token 40 CCIPAT_ CCIPRJ_
    buildkite-token 40 bkua_ bkaa_ bkaj_ bkar_ bkct_ bkpt_
    atlassian-token 60 ATATT ATCTT ATBB BBDC-
    onepassword-token 60 ops_eyJ
    age-key 50 AGE-SECRET-KEY-1
    artifactory-key 60 AKCp cmVmd
    vault-token 20 hvs. hvb. hvr.
    doppler-token 36 dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.
    dynatrace-token 40 dt0c01. dt0s01. dt0s16.
    google-token 20 ya29. 1//0
    google-key 30 AIza
    google-secret 20 GOCSPX-
    sendgrid-key 40 SG.
    openshift-token 40 sha256~
"""
"""Kind, least length of what follows the prefix, prefixes: from the vendors' own descriptions of their tokens."""

_PREFIXES: Final = {
    prefix: (kind, int(least))
    for kind, least, *prefixes in (row.split() for row in _ROWS.strip().splitlines())
    for prefix in prefixes
}


def _any_of(words: list[str]) -> str:
    """A pattern for the longest of some words, that looks at each character once."""
    tails: dict[str, list[str]] = {}
    for word in sorted(filter(None, words)):
        tails.setdefault(word[0], []).append(word[1:])
    branches = "|".join(re.escape(first) + (_any_of(rest) if any(rest) else "") for first, rest in tails.items())
    return f"(?:{branches})" + ("?" if "" in words else "")


_START: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
"""No token character before it, but for an escaped line break or an escaped sign of a URL."""

_BEGINNING: Final = re.compile(rf"{_START}{_any_of(list(_PREFIXES))}")
_BODY: Final = re.compile(r"[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]++)*+=*+")
_PLAIN_BODY: Final = re.compile(r"[A-Za-z0-9_-]*+")
_LEAST_DIFFERENT: Final = 5
_MANY_DIFFERENT: Final = 14
_LONG: Final = 40
_CUT: Final = re.compile(r"\s*(?:…|\.\.\.)")
_LEAST_CUT: Final = 6
"""Characters after a prefix that make a token of which the rest was cut off."""

_SHAPES: Final = tuple(
    (re.compile(hint), re.compile(rf"{_START}{shape}"), kind)
    for hint, shape, kind in (
        ("AKIA|ASIA|A[BC][IC]A|A3T", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])", "aws-key"),
        ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){1,3}", "jwt"),
        (
            r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
            r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])",
            "discord-token",
        ),
        ("-us[0-9]", r"[0-9a-f]{32}-us[0-9]{1,2}(?![\w-])", "mailchimp-key"),
        ("Q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![\w~.-])", "azure-secret"),
        (":A[A-Za-z0-9_-]{34}", r"[0-9]{8,10}:A[A-Za-z0-9_-]{34}(?![\w-])", "telegram-token"),
    )
)
"""What has to be there at all, which is cheap to look for; the form; the kind."""

_BOT: Final = re.compile(r"(?<=/bot)[0-9]{8,10}:[A-Za-z0-9_-]{30,}")
_WEBHOOK: Final = re.compile(
    r"(?P<before>hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/[0-9]{1,25}/"
    r"|\.webhook\.office\.com/webhookb2/)(?P<secret>[A-Za-z0-9_@/+-]{20,}+)"
)


def mask_tokens(text: str) -> str:
    """Replace tokens of known form, and the secret part of webhook addresses; linear time."""
    pieces: list[str] = []
    done = at = 0
    while prefix := _BEGINNING.search(text, at):
        at = _end_of_token(text, prefix)
        if at > prefix.end():
            pieces += (text[done : prefix.start()], f"[masked:{_PREFIXES[prefix[0]][0]}]")
            done = at
    text = "".join((*pieces, text[done:]))
    for hint, shape, kind in _SHAPES:
        if hint.search(text):
            text = shape.sub(f"[masked:{kind}]", text)
    if "/bot" in text:
        text = _BOT.sub("[masked:telegram-token]", text)
    if "hook" in text:
        text = _WEBHOOK.sub(lambda one: f"{one['before']}[masked:webhook]", text)
    return text


def _end_of_token(text: str, prefix: re.Match[str]) -> int:
    """Where the token that begins with a prefix ends; the end of the prefix when it is none."""
    start = prefix.end()
    found = (_BODY if "." in prefix[0] else _PLAIN_BODY).match(text, start)
    body = found[0] if found else ""
    enough = len(body) >= _PREFIXES[prefix[0]][1]
    if not enough:
        enough = len(body) >= _LEAST_CUT and len(prefix[0]) > 3 and _CUT.match(text, start + len(body)) is not None
    return start + len(body) if enough and _is_random(prefix[0], body) else start


def _is_random(prefix: str, body: str) -> bool:
    """Whether a body looks like no words: placeholders and names that begin as a token does are none."""
    if len(set(body)) < _LEAST_DIFFERENT or not _is_mixed(body):
        return False
    if prefix[-1].isalnum() and prefix not in ("AGE-SECRET-KEY-1", "ops_eyJ", "1//0"):
        # Words may begin so as well.
        return prefix in ("EAAA", "EAAM", "EAAC", "EAAG", "AIza", "BSA") or not {"_", "-"} & set(body[:20])
    longest = 10 if prefix in ("sk-", "sk_", "re_", "key-") else 5
    return len(body) >= _LONG or any(len(run) >= longest and _is_mixed(run) for run in re.split("[-_.]", body))


def _is_mixed(text: str) -> bool:
    """Whether it has a digit, or capitals and small letters of many kinds."""
    if re.search("[0-9]", text):
        return True
    return len(set(text)) >= _MANY_DIFFERENT and text != text.lower() and text != text.upper()
