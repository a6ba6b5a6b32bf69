from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import MARKER_ROOM, clip_middle, mask, mask_line, mask_middle, safe_middle
from tests.bench.secrets import judge
from tests.corpus.cases import SecretCase
from tests.corpus.load import load_as

# Assembled from pieces, so that no scanner takes this file for a leak.
SK = "sk-" + "proj-4f9Ab2Cd3Ef4Gh5Ij6Kl7"
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
KEY_LINES = "MIIEpAIBAAKCAQEA7bq98\nAoIBAQDtur3x+/7Qw==\n"
WORDS = st.text(alphabet="abc 12\n.,", max_size=40)
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_LINES}-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (f"OPENAI={SK} x", "OPENAI=[masked:api-key] x"),
        ("sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc", "[masked:api-key]"),
        (f"remote {GITHUB}\n", "remote [masked:github-token]\n"),
        ("github_" + "pat_11ABCDEFG0abcdefghijkl_mnop", "[masked:github-token]"),
        ("gho_" + "16C7e42F292c6912E7710c838347Ae178B4a", "[masked:github-token]"),
        (f'"{AWS}"', '"[masked:aws-key]"'),
        ("xoxb-" + "123456789012-abcdefABCDEF", "[masked:slack-token]"),
        ("hf_" + "abcdefghijklmnopqrstuvwxyzABCD", "[masked:hugging-face-token]"),
        (f"cookie: s={JWT};", "cookie: s=[masked:jwt];"),
        ("Authorization: Bearer abcdef.123456", "Authorization: Bearer [masked:authorization]"),
        ("-H 'authorization: Basic dXNlcjpwYXNz'", "-H 'authorization: Basic [masked:authorization]'"),
        ('{"Authorization": "Token 9944b09199c62bcf"}', '{"Authorization": "Token [masked:authorization]"}'),
        ("bearer 9944b09199c62bcf9418", "bearer [masked:bearer]"),
        ("postgres://app:s3cr3t@db:5432/x", "postgres://app:[masked:password]@db:5432/x"),
        ("https://user:pass@host/path", "https://user:[masked:password]@host/path"),
        (f"key:\n{PEM}\nend", "key:\n[masked:private-key]\nend"),
        (f"{PEM}\n{PEM}", "[masked:private-key]\n[masked:private-key]"),
        (f"-----BEGIN PRIVATE KEY-----\n{KEY_LINES}", "[masked:private-key]\n"),
        (f"tail of it\n{KEY_LINES}-----END PRIVATE KEY-----\n", "tail of it\n[masked:private-key]\n"),
        ("PASSWORD=hunter2!", "PASSWORD=[masked:password]"),
        ('"db_password": "tr0ub4dor&3"', '"db_password": "[masked:password]"'),
        ("client_secret = 'a1b2c3d4e5'", "client_secret = '[masked:secret]'"),
        ("api_key: 0123456789abcdef0123456789abcdef", "api_key: [masked:api-key]"),
        ("X-Api-Key: 8f14e45fceea167a", "X-Api-Key: [masked:api-key]"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "AWS_SECRET_ACCESS_KEY=[masked:access-key]"),
        ("token = 4e7d1c9a0b2f8d6e5a3c", "token = [masked:token]"),
    ],
)
def test_secrets_are_masked(raw: str, expected: str) -> None:
    assert mask(raw) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  model.ckpt",
        "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "token 46107 decodes to ' Damien'",
        "token: 46107",
        "tokens: 50257, token_id=50256",
        '"token": "Ġworld1"',
        'tokenizer: "gpt2-medium-tokenizer-v2-fast"',
        "token_count=1234567890abcdef1234",
        "password: required",
        "password = getpass.getpass2(prompt)",
        'password = os.environ["DB_PASSWORD2"]',
        "secret: ./conf/prod2.yaml",
        "password_file=/run/secrets/db1",
        "token = $GITHUB_TOKEN_2",
        "token: ${{ secrets.TOKEN_NUMBER_2 }}",
        "pip install sk-learn-contrib-something",
        "risk-assessment-2024-final-version",
        "disk-0123456789abcdef01234567",
        "Authorization: required",
        "the bearer authentication-scheme",
        "http://localhost:4096/session",
        "https://host:8080/a@b",
        "ssh://git@host:22/x",
        "postgres://app:$PASSWORD@db",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBg\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBg\n-----END CERTIFICATE-----",
        "00000000: 504b 0304 1400 0000 0800 2b6f 6d4e b2c9  PK........+omN..",
        "float32 little-endian, 124439808 values, offset 0x1f40",
        "xoxo-hugs",
        "the -----BEGIN RSA PRIVATE KEY----- line is missing",
        "private_key: PKCS7PrivateKeyTypes",
        "authorization = base64.decodebytes(authorization)",
        'partition_key = "2026-11-30T08:00"',
        "secret: web-tls-cert-2024",
        "next: password reset for user17",
        "--token-file /run/t1 --password-stdin",
        "public_key: 04bfcab8e1d2c3b4a59687",
        "traceparent: 00-c7f44ae570e61ff02459db3bc7bab084-7362d86790143f1f-01",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("case", load_as(SecretCase), ids=lambda case: case.id)
def test_labelled_text_is_masked_where_it_should_and_nowhere_else(case: SecretCase) -> None:
    judged = judge(case)
    assert judged.right, (judged, mask(case.text))


@given(st.sampled_from([case for case in load_as(SecretCase) if case.spans]), WORDS, WORDS)
def test_no_labelled_secret_survives_whatever_lines_stand_around_it(case: SecretCase, before: str, after: str) -> None:
    result = mask(f"{before}\n{case.text}\n{after}")
    assert not [case.text[start:end] for start, end in case.spans if case.text[start:end] in result]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('log: "a\\n' + GITHUB + '\\nb"', 'log: "a\\n[masked:github-token]\\nb"'),
        (GITHUB[:14] + "… [31 characters left out] …", "[masked:github-token]… [31 characters left out] …"),
        (GITHUB[:14] + "...", "[masked:github-token]..."),
        (f"-----BEGIN PRIVATE KEY-----\n{'A1b+' * 16}\n{'c2D/' * 9}…", "[masked:private-key]…"),
        (f"-----BEGIN PRIVATE KEY-----\n{'A1b+' * 16}\n$ ls\nREADME", "[masked:private-key]\n$ ls\nREADME"),
        (f'"key": "-----BEGIN PRIVATE KEY-----\\n{"A1b+" * 16}\\n', '"key": "[masked:private-key]'),
        (f"{'A1b+' * 16}\n{'c2D/' * 3}\n-----END RSA PRIVATE KEY-----\nok", "[masked:private-key]\nok"),
        ("mysql -uroot -pQwz7-Trk shop", "mysql -uroot -p[masked:password] shop"),
        ("curl -u me:S3cretWord https://x", "curl -u me:[masked:password] https://x"),
        ("  password: Abc12345\n  port: 80", "  password: [masked:password]\n  port: 80"),
        ("DB_PASSWORD=swordfish", "DB_PASSWORD=[masked:password]"),
        ("- name: API_TOKEN\n  value: 9f8e7d6c5b4a39281706", "- name: API_TOKEN\n  value: [masked:token]"),
        ("<password>MavenPass12</password>", "<password>[masked:password]</password>"),
        ("Cookie: theme=dark; sid=4f9c1b7ae02d88aa31", "Cookie: theme=dark; sid=[masked:cookie]"),
        ("?X-Amz-Signature=" + "3f7a90bc" * 8 + "&x=1", "?X-Amz-Signature=[masked:signature]&x=1"),
    ],
)
def test_secrets_by_their_place_or_cut_off(raw: str, expected: str) -> None:
    assert mask(raw) == expected


@given(st.text(max_size=200))
def test_any_text_can_be_masked(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


SECRETS = st.sampled_from([SK, GITHUB, AWS, JWT, PEM, "password=", "token: ", "://a:b1@", "Authorization: Bearer "])
MARKS = st.sampled_from(["[masked:jwt]", "-----", "=", ":", "@", "a1b2c3d4e5"])
PIECES = st.one_of(SECRETS, st.text(max_size=5), MARKS)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


@given(st.text(alphabet="abc \n.,'\"{}", max_size=30), st.text(alphabet="abc \n.,'\"{}", max_size=30))
def test_a_token_between_other_words_is_found_and_the_rest_stays(before: str, after: str) -> None:
    for secret in (SK, GITHUB, AWS):
        result = mask(f"{before} {secret} {after}")
        assert secret not in result
        assert result.startswith(f"{before} [masked:")
        assert result.endswith(f"] {after}")


@pytest.mark.parametrize(
    "unit",
    [
        *("sk-", "-eyJ", "sk-a", " sk-a-", "ghp_", "-----BEGIN PRIVATE KEY-----", "://a:", "password=", "A", "-", " "),
        *("authorization:", "a\n-----END PRIVATE KEY-----\n", "token: ", "eyJaaaaaaaaa."),
    ],
)
def test_a_long_hostile_run_is_taken_in_linear_time(unit: str) -> None:
    text = unit * (600_000 // len(unit))
    assert len(mask(text)) <= len(text)


DIVIDED = {
    "token": (f"OPENAI={SK}", SK),
    "json": ('{"db_password": "tr0ub4dor&3-9f8e7d6c5b4a"}', "tr0ub4dor&3-9f8e7d6c5b4a"),
    "header": ("Authorization: Bearer abcdef.123456.ghijkl", "abcdef.123456.ghijkl"),
    "url": ("postgres://app:s3cr3t-w1th-s0me-length@db:5432/x", "s3cr3t-w1th-s0me-length"),
    "jwt": (JWT, JWT),
    "pem": (PEM.replace("\n-----END", "\n" + "AoIBAQDtur3x+/7Qw" * 90 + "\n-----END"), "AoIBAQDtur3x+/7Qw" * 90),
}
LINE = "step 17: loss 0.25, offset 128\n"


@pytest.mark.parametrize("kind", DIVIDED)
@pytest.mark.parametrize("length", [600, 30_000], ids=["just cut", "long"])
@pytest.mark.parametrize("joint", ["\n", " ", ","], ids=["line", "word", "one word"])
def test_a_secret_across_a_cut_leaves_nothing(kind: str, length: int, joint: str) -> None:
    shown, secret = DIVIDED[kind]
    filler = (LINE * 1_000)[:length].replace("\n", joint).replace(" ", joint if joint == "," else " ")
    edge = 300
    pieces = {secret[at : at + 8] for at in range(len(secret) - 8)}
    for inside in range(0, len(shown) + 1, max(1, len(shown) // 25)):
        before = "x" * (edge - inside) + joint if inside < edge else ""
        at_head = f"{before}{shown}{joint}{filler}"
        at_tail = f"{filler}{joint}{shown}{joint}{'y' * max(0, edge - inside)}"
        for text in (at_head, at_tail):
            found = mask_middle(text, edge, edge)
            assert len(found) < len(text)
            assert not [piece for piece in pieces if piece in found], (inside, found)


@pytest.mark.parametrize("kind", DIVIDED)
@pytest.mark.parametrize("length", [600, 60_000], ids=["short", "long"])
def test_what_is_kept_of_outside_text_has_no_secret(kind: str, length: int) -> None:
    shown, secret = DIVIDED[kind]
    filler = (LINE * 2_000)[:length]
    edge = 5_000
    pieces = {secret[at : at + 8] for at in range(len(secret) - 8)}
    for inside in range(0, len(shown) + 1, max(1, len(shown) // 8)):
        before = "x" * (edge - inside - 1) + "\n"
        for text in (f"{before}{shown}\n{filler}", f"{filler}\n{shown}\n{'y' * (edge - inside)}", shown):
            found = safe_middle(text, edge, edge)
            assert len(found) <= 2 * edge + MARKER_ROOM
            assert not [piece for piece in pieces if piece in found], (inside, found)


def test_outside_text_is_cleaned_before_it_is_masked() -> None:
    assert safe_middle(f"a {GITHUB[:9]}\x1b[0m{GITHUB[9:]}", 100, 100) == "a [masked:github-token]"
    assert safe_middle(LINE, 100, 100) == LINE


def test_a_line_is_masked_before_it_is_cut() -> None:
    for room in range(5, 60):
        assert GITHUB[:10] not in mask_line(f"use {GITHUB} now", room)
        assert GITHUB[:10] not in mask_line("x" * (4 * room - 20) + f" {GITHUB} now", room)
    assert mask_line("one\ntwo", 20) == "one two"


def test_masked_or_not_the_ends_are_those_of_the_text() -> None:
    text = LINE * 5_000
    assert mask_middle(text, 300, 200) == clip_middle(text, 300, 200)
    assert mask_middle(PEM, 4_000, 4_000) == PEM
    assert mask_middle(text, 0, 0) == clip_middle(text, 0, 0)


def test_a_word_at_the_far_end_of_what_was_masked_is_not_shown() -> None:
    """Many secrets before it, each much shorter once it is masked, let the margin shrink away."""
    secret = "hunter2" + "Ab3" * 40
    first = f"{JWT} " * 27  # 3,900 characters become 350
    text = f"{first}{'x' * (300 + 4_096 - len(first) - 30)} pwd={secret} {LINE * 500}"
    assert mask_middle(text, 300, 300).startswith("[masked:jwt] [masked:jwt]")
    assert "hunter2" not in mask_middle(text, 4_000, 300)


@given(st.text(alphabet="ab \n=:@/-", max_size=60), st.integers(0, 300), st.integers(0, 300))
def test_what_is_masked_at_the_ends_is_bounded(text: str, head: int, tail: int) -> None:
    for factor in (1, 40, 400):
        assert len(mask_middle(text * factor, head, tail)) <= max(head + tail, 0) + MARKER_ROOM


def test_a_name_after_a_masked_value_on_the_same_line_is_seen() -> None:
    key = "L5GlyyaZtswRFNRZ/" + "AGR+88iDqJ2KRcn/hREb+g3"
    text = mask(
        f"aws_access_key_id = {'AKIA' + 'Q3EGRZ5VNTKX7WMA'} aws_secret_access_key = {key} region = eu-central-1"
    )
    assert key not in text and text.endswith(" region = eu-central-1")


def test_a_cut_block_with_numbered_lines_is_masked() -> None:
    lines = ["18 -----BEGIN PRIVATE KEY-----", *(f"18 {c * 64}" for c in "abcd")]
    assert all(c * 20 not in mask("\n".join(lines)) for c in "abcd")
