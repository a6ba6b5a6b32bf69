"""A model server for Cognee: completions that fit whatever JSON schema they are asked for, embeddings from hashes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SIZE = 64
"""Length of an embedding."""


def instance(schema: dict[str, Any], defs: dict[str, Any], depth: int = 0) -> Any:
    """Some value that fits `schema`, with one item in each list."""
    if "$ref" in schema:
        return instance(defs[schema["$ref"].split("/")[-1]], defs, depth + 1)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return instance(schema[choice][0], defs, depth + 1)
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        return {name: instance(found, defs, depth + 1) for name, found in schema["properties"].items()}
    if schema.get("type") == "array":
        return [instance(schema.get("items", {}), defs, depth + 1)] if depth < 6 else []
    return {"integer": 1, "number": 1.0, "boolean": True, "object": {}, "null": None}.get(
        schema.get("type", ""), "alpha"
    )


def embedding(text: str) -> list[float]:
    """The same text gives the same one."""
    digest = hashlib.sha512(text.encode()).digest()
    return [byte / 255 for byte in digest[:SIZE]]


def answer(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The body of the answer to a request."""
    if path.endswith("/embeddings"):
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        vectors = [{"object": "embedding", "index": n, "embedding": embedding(str(t))} for n, t in enumerate(texts)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "model": asked["model"], "data": vectors, "usage": usage}
    message: dict[str, Any] = {"role": "assistant", "content": "ok"}
    wanted = asked.get("response_format") or {}
    if asked.get("tools"):
        function = asked["tools"][0]["function"]
        given = instance(function["parameters"], function["parameters"].get("$defs", {}))
        call = {"name": function["name"], "arguments": json.dumps(given)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        }
    elif wanted.get("type") == "json_schema":
        schema = wanted["json_schema"]["schema"]
        message["content"] = json.dumps(instance(schema, schema.get("$defs", {})))
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip


class CogneeModel:
    """The server; `asked` counts the requests by the last word of their path."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked[self.path.rpartition("/")[2]] += 1
                body = json.dumps(answer(self.path, asked)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
