"""Hand-made answers of extraction agents: name, text, expected facts with topics, expected number of rejected items.

Where the expected value is a string, reading must fail and the reason must contain it.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    name: str
    text: str
    found: tuple[tuple[str, str], ...] | str
    rejected: int = 0


A = ("model.ckpt has no header", "file-format:model.ckpt")
B = ("vocab.bpe has 50,257 entries", "tokenizer:vocab.bpe")
C = ("GET /users sorts by id", "api:/users")
JA = '{"fact": "model.ckpt has no header", "topic": "file-format:model.ckpt"}'
JB = '{"fact": "vocab.bpe has 50,257 entries", "topic": "tokenizer:vocab.bpe"}'
JC = '{"fact": "GET /users sorts by id", "topic": "api:/users"}'
AB = (A, B)
ABC = (A, B, C)
X = "x:y"


def one(fact: str, topic: str = X) -> tuple[tuple[str, str], ...]:
    return ((fact, topic),)


PLAIN = [
    Case("array", f"[{JA}, {JB}]", AB),
    Case("array of one", f"[{JA}]", (A,)),
    Case("white space around", f"\n\n  [ {JA} ,\n {JB} ]  \n", AB),
    Case("byte order mark", f"\ufeff[{JA}]", (A,)),
    Case("CRLF", f"[\r\n{JA},\r\n{JB}\r\n]\r\n", AB),
    Case(
        "escaped characters", r'[{"fact": "a \"b\" \\ \/ \u00e9 \ud83d\ude00", "topic": "x:y"}]', one('a "b" \\ / é 😀')
    ),
    Case("escaped newline and tab", r'[{"fact": "a\n\tb", "topic": "x:y"}]', one("a\n\tb")),
    Case("raw newline and tab", '[{"fact": "a\n\tb", "topic": "x:y"}]', one("a\n\tb")),
    Case("surrounding space of a fact", '[{"fact": "  a1 \\n", "topic": "  x:y "}]', one("a1")),
    Case(
        "structure inside a string",
        '[{"fact": "a [1], {2}: \\"c\\", // d", "topic": "x:y"}]',
        one('a [1], {2}: "c", // d'),
    ),
    Case(
        "fence inside a string", '[{"fact": "```json starts a fence", "topic": "x:y"}]', one("```json starts a fence")
    ),
    Case(
        "further keys",
        '[{"id": 1, "fact": "a1", "topic": "x:y", "confidence": 0.9, "calls": ["c1", {"n": 2}]}]',
        one("a1"),
    ),
    Case("other order", '[{"topic": "x:y", "fact": "a1"}]', one("a1")),
    Case("escape code in a fact", r'[{"fact": "a\u001b[31m1\u0000", "topic": "x:y"}]', one("a1")),
    Case("lone surrogate", r'[{"fact": "a\ud800b", "topic": "x:y"}]', one("a�b")),
    Case("newline in a topic", r'[{"fact": "a1", "topic": "x:\ny"}]', one("a1", "x: y")),
]
WRAPPED = [
    Case("fence", f"```\n[{JA}]\n```", (A,)),
    Case("fence json", f"```json\n[{JA}, {JB}]\n```", AB),
    Case("fence JSON", f"```JSON\n[{JA}]\n```\n", (A,)),
    Case("fence Json5 with tildes", f"~~~Json5\n[{JA}]\n~~~", (A,)),
    Case("fence without an end", f"```json\n[{JA}]", (A,)),
    Case("fence in one line", f"```json [{JA}] ```", (A,)),
    Case("prose before", f"Here are the findings:\n\n[{JA}]", (A,)),
    Case("prose after", f"[{JA}]\n\nLet me know if you need more!", (A,)),
    Case("prose and fences", f"Sure! Here's the list:\n```json\n[{JA}]\n```\nThat's all (1 item).", (A,)),
    Case("prose with brackets", f"From [1] and [x], see a[0] and [the docs](http://x): [{JA}] [2]", (A,)),
    Case("prose with braces", f"The call f() {{ return }} and ${{HOME}} gave {{x}}:\n[{JA}]", (A,)),
    Case("prose with an unclosed bracket", f"In a[i and so on:\n[{JA}]", (A,)),
    Case("prose with a quoted index", f'd[\'key\'] and ["a", "b"] hold it.\n[{JA}]', (A,)),
    Case("two fences", f"```json\n[{JA}]\n```\nand\n```json\n[{JB}]\n```", AB),
    Case("several arrays", f"[{JA}]\n[{JB}]\n[{JC}]", ABC),
    Case("arrays and objects", f"[{JA}] then {JB} then [{JC}]", ABC),
    Case("empty array before another", f"[]\n[{JA}]", (A,)),
    Case("single object", JA, (A,)),
    Case("JSON lines", f"{JA}\n{JB}\n{JC}\n", ABC),
    Case("objects with commas, no brackets", f"{JA},\n{JB},\n", AB),
    Case("numbered list of objects", f"1. {JA}\n2. {JB}", AB),
    Case("object around the array", f'{{"findings": [{JA}, {JB}]}}', AB),
    Case("object around, further keys", f'{{"status": "ok", "count": 1, "facts": [{JA}], "done": true}}', (A,)),
    Case("two objects around", f'{{"result": {{"items": [{JA}]}}}}', (A,)),
    Case("array in an array", f"[[{JA}], [{JB}]]", AB),
    Case("array as a string", '"[{\\"fact\\": \\"a1\\", \\"topic\\": \\"x:y\\"}]"', one("a1")),
]
THINKING = [
    Case("closed", f"<think>Maybe [{JB}]?</think>\n[{JA}]", (A,)),
    Case("closed, capitals", f"<THINK>[{JB}]</Think>[{JA}]", (A,)),
    Case("thinking tag", f"<thinking>\n{JB}\n</thinking>\n\n{JA}", (A,)),
    Case("without an opening", f"The header is [x]. Perhaps [{JB}].\n</think>\n[{JA}]", (A,)),
    Case("without an opening, broken inside", f'It wants [{{"fact": "...\n</think>\n[{JA}]', (A,)),
    Case("unclosed after the answer", f"[{JA}]\n<think>Should I add {JB}", (A,)),
    Case("unclosed before any answer", f"<think>Should I answer [{JA}]", "reasoning"),
    Case("two blocks", f"<think>a</think>[{JA}]<think>b [{JC}]</think>[{JB}]", AB),
    Case("nested", f"<think>a <think>b</think> [{JB}] </think>[{JA}]", (A,)),
    Case("nothing else", "<think>hm</think>\n", "reasoning"),
    Case(
        "tag in a fact",
        '[{"fact": "token 151667 decodes to <think>", "topic": "x:y"}]',
        one("token 151667 decodes to <think>"),
    ),
    Case(
        "tags in facts",
        '[{"fact": "ends with </think>", "topic": "x:y"}, {"fact": "b1"}]',
        (("ends with </think>", X), ("b1", "general")),
    ),
    Case(
        "tag in a fact after thinking",
        '<think>[]</think>\nFound:\n```json\n[{"fact": "has <think>", "topic": "x:y"}]\n```',
        one("has <think>"),
    ),
]
SLOPPY = [
    Case("trailing commas", f"[{JA[:-1]},}}, {JB},]", AB),
    Case("line comments", f"[\n// first\n{JA}, // said twice\n# and\n{JB}\n]", AB),
    Case("block comments", f'[/* a [1] */ {JA} /* \n " */, {JB}]', AB),
    Case("comment between key and value", '[{"fact": /* sure */ "a1", // yes\n "topic": "x:y"}]', one("a1")),
    Case("URL is no comment", '[{"fact": "http://h/#a //b", "topic": "x:y"}]', one("http://h/#a //b")),
    Case("single quotes", "[{'fact': 'a \"b\" c', 'topic': 'x:y'}]", one('a "b" c')),
    Case(
        "single quotes with apostrophes",
        "[{'fact': 'it\\'s the file\\'s end', 'topic': 'x:y'}]",
        one("it's the file's end"),
    ),
    Case("bare apostrophes", "[{'fact': 'it's the file's end', 'topic': 'x:y'}]", one("it's the file's end")),
    Case("Python repr with both quotes", "[{'fact': \"it's 12\", 'topic': 'x:y'}]", one("it's 12")),
    Case("Python literals", "[{'fact': 'a1', 'topic': None, 'sure': True, 'n': -1.5e3}]", one("a1", "general")),
    Case("Python tuple", "({'fact': 'a1', 'topic': 'x:y'}, {'fact': 'b1', 'topic': 'x:y'})", (("a1", X), ("b1", X))),
    Case("Python hex escape", r"[{'fact': 'magic \x89PNG \U0001f600', 'topic': 'x:y'}]", one("magic PNG 😀")),
    Case("unquoted keys", '[{fact: "a1", topic: "x:y"}]', one("a1")),
    Case("curly quotes", "[{“fact”: “a1”, “topic”: “x:y”}]", one("a1")),
    Case(
        "unescaped quotes before a brace",
        '[{"fact": "struct {"a"} and ["b"] follow", "topic": "x:y"}]',
        one('struct {"a"} and ["b"] follow'),
    ),
    Case(
        "unescaped quotes before a colon", '[{"fact": "the key "n": is 5", "topic": "x:y"}]', one('the key "n": is 5')
    ),
    Case("Windows path", r'[{"fact": "C:\Users\x1 is empty", "topic": "x:y"}]', one(r"C:\Users\x1 is empty")),
    Case("tool call", f'<tool_call>{{"name": "f", "arguments": {{"findings": [{JA}]}}}}</tool_call>', (A,)),
    Case("object with prose in its line", f"{JA} is all I found", (A,)),
    Case("objects in one line", f"{JA} {JB}", AB),
    Case("objects in bullets", f"- {JA}\n- {JB}", AB),
    Case("objects in code spans", f"- `{JA}`\n- `{JB}`", AB),
    Case(
        "unescaped quotes",
        '[{"fact": "the "magic" is "PK", it starts so", "topic": "x:y"}]',
        one('the "magic" is "PK", it starts so'),
    ),
    Case("invalid escapes", r'[{"fact": "C:\data\qux matches \d+", "topic": "x:y"}]', one(r"C:\data\qux matches \d+")),
    Case("missing comma between items", f"[{JA}\n{JB}]", AB),
    Case("missing comma between keys", '[{"fact": "a1"\n "topic": "x:y"}]', one("a1")),
    Case("missing closing brace", f"[{JA[:-1]}, {JB}]", AB),
    Case("missing brace at the end", f"[{JA}, {JB[:-1]}]", AB),
    Case("double commas", f"[,{JA},,{JB},,]", AB),
    Case("too many closers", f"[{JA}]]}}]\n[{JB}]", AB),
    Case("semicolon after", f"const facts = [{JA}];", (A,)),
    Case("NaN and infinity", '[{"fact": "a1", "topic": "x:y", "score": NaN, "max": -Infinity}]', one("a1")),
    Case("ellipsis as last item", f"[{JA}, ...]", (A,), 1),
]
TRUNCATED = [
    Case("after a comma", f"[{JA},", (A,)),
    Case("after an item", f"[{JA}", (A,)),
    Case("in a fact", f'[{JA}, {{"fact": "vocab.bpe has 50', (A,), 1),
    Case("in a topic", f'[{JA}, {{"fact": "b1", "topic": "tok', (A,), 1),
    Case("before the topic", f'[{JA}, {{"fact": "b1",', (A,), 1),
    Case("in a key", f'[{JA}, {{"fa', (A,), 1),
    Case("after the last string", f"[{JA}, {JB[:-1]}", AB),
    Case("in an escape", f'[{JA}, {{"fact": "b\\u00', (A,), 1),
    Case("fenced", f'```json\n[{JA},\n {{"fact": "b', (A,), 1),
    Case("in the first item", '[{"fact": "model.ckpt has', "cut off"),
    Case("before the first topic", '[{"fact": "model.ckpt has no header",', "cut off"),
    Case("in the first item, after prose", 'Two findings:\n[{"fact": "model.ckpt has', "cut off"),
    Case("wrapped", f'{{"findings": [{JA}, {{"fact"', (A,), 1),
]
REJECTED = [
    Case("no topic", '[{"fact": "a1"}]', one("a1", "general")),
    Case("empty topic", '[{"fact": "a1", "topic": " "}]', one("a1", "general")),
    Case("null topic", '[{"fact": "a1", "topic": null}]', one("a1", "general")),
    Case("topic of a wrong type", f'[{{"fact": "a1", "topic": 5}}, {{"fact": "b1", "topic": ["x"]}}, {JA}]', (A,), 2),
    Case("no fact", f'[{{"topic": "x:y"}}, {JA}]', (A,), 1),
    Case("empty fact", f'[{{"fact": "", "topic": "x:y"}}, {JA}]', (A,), 1),
    Case("blank fact", f'[{{"fact": " \\n\\t\\u00a0", "topic": "x:y"}}, {JA}]', (A,), 1),
    Case("fact without a letter or digit", f'[{{"fact": "...", "topic": "..."}}, {JA}]', (A,), 1),
    Case(
        "fact of a wrong type",
        f'[{{"fact": 5}}, {{"fact": ["a"]}}, {{"fact": null}}, {{"fact": {{"a": 1}}}}, {JA}]',
        (A,),
        4,
    ),
    Case("items of a wrong type", f'["a", 1, null, true, {JA}]', (A,), 4),
    Case("only wrong items", '["a", "b"]', (), 2),
    Case("fact of 2,000 characters", f'[{{"fact": "{"a" * 2000}", "topic": "x:y"}}]', one("a" * 2000)),
    Case("fact of 2,001 characters", f'[{{"fact": "{"a" * 2001}", "topic": "x:y"}}, {JA}]', (A,), 1),
    Case(
        "other key names",
        '[{"finding": "a1", "category": "x:y"}, {"statement": "b1", "topic": "x:y"}, {"text": "c1"}]',
        (("a1", X), ("b1", X), ("c1", "general")),
    ),
    Case("capitals in keys", '[{"Fact": "a1", "TOPIC": "x:y"}]', one("a1")),
    Case("fact before other names", '[{"text": "whole line", "fact": "a1", "topic": "x:y"}]', one("a1")),
]
EMPTY = [
    Case("empty array", "[]", ()),
    Case("empty array, spaces", " [ \n ] ", ()),
    Case("empty array, fenced", "```json\n[]\n```", ()),
    Case("empty array, prose", "No new facts were observed in these outputs.\n\n[]\n\nAll were known.", ()),
    Case("empty array, bold", "**[]**", ()),
    Case("empty array with a comment", "[ // nothing new\n]", ()),
    Case("empty array in an object", '{"findings": []}', ()),
    Case("empty array in an array", "[[]]", ()),
    Case("empty array after thinking", "<think>nothing</think>[]", ()),
    Case("empty array after a polite refusal", "I cannot find anything new. []", ()),
]
FAILED = [
    Case("nothing", "", "empty"),
    Case("white space", " \n\t ", "empty"),
    Case("refusal", "I cannot help with that request.", "refused: I cannot help"),
    Case("refusal, curly apostrophe", "I’m sorry, but I can’t assist with this.", "refused"),
    Case("refusal, unable", "Unfortunately, I am unable to extract facts from this.", "refused"),
    Case("prompt too long", "prompt is too long: 210000 tokens > 200000 maximum", "provider: prompt is too long"),
    Case("rate limit", "Error 429: rate limit exceeded, retry after 20 s", "provider: Error 429"),
    Case("context length", "This model's maximum context length is 8192 tokens.", "provider"),
    Case("context length exceeded", "context length exceeded", "provider"),
    Case("overloaded", "Overloaded", "provider"),
    Case("quota", "You exceeded your current quota, please check your plan", "provider"),
    Case(
        "error object",
        '{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}',
        "provider: prompt is too long",
    ),
    Case(
        "error object with a list",
        '{"error": {"message": "Rate limit reached", "details": []}}',
        "provider: Rate limit reached",
    ),
    Case("error string", '{"error": "context_length_exceeded"}', "provider: context_length_exceeded"),
    Case("message object", '{"message": "rate limit exceeded", "choices": []}', "provider"),
    Case("prose", "The file has no header and is little-endian.", "no JSON array"),
    Case("prose with brackets only", "As [1] and [x] show, a[0] is 5 and {y} is set.", "no JSON array"),
    Case("prose with a number list", "The sizes are [1, 2, 3].", "no JSON array"),
    Case("bullets", "- model.ckpt has no header\n- it is float32", "no JSON array"),
    Case("a literal", "null", "no JSON array"),
    Case("only an opening", "```json\n[", "no JSON array"),
    Case("only openings", "[[[", "cut off"),
    Case("an opening in an object", '{"findings": [', "cut off"),
]
CASES = [*PLAIN, *WRAPPED, *THINKING, *SLOPPY, *TRUNCATED, *REJECTED, *EMPTY, *FAILED]
