"""Errors of the API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from email.message import Message
from typing import Any, cast


@dataclass(frozen=True)
class FieldError:
    """A value of the request that is wrong."""

    location: str
    """Where it is, such as ``body.chatId``."""
    message: str


class TrunklineError(Exception):
    """A request that the server refused."""

    status: int
    """The HTTP status."""
    code: str
    """Which problem it is, such as ``window_closed``; "" if the answer is not of a Trunkline server."""
    message: str
    """What is wrong, for people."""
    fields: list[FieldError]
    """With the code ``validation``: each wrong value and its place."""
    request_id: str
    """The id of the request, which the server's log has, too."""
    retry_after: int | None
    """After how many seconds another attempt may succeed, if the server says so."""
    body: Any
    """The answer: the problem, or text."""

    def __init__(self, status: int, reason: str, headers: Message, raw: bytes) -> None:
        body: Any
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw.decode(errors="replace")
        problem: dict[str, Any] = cast("Any", body) if isinstance(body, dict) else {}
        self.body = body
        self.status = status
        self.code = problem.get("code", "")
        self.message = problem.get("detail") or reason or f"HTTP status {status}"
        errors: list[dict[str, str]] = problem.get("errors") or []
        self.fields = [FieldError(e.get("location", ""), e.get("message", "")) for e in errors]
        self.request_id = headers.get("X-Request-Id", "")
        after = headers.get("Retry-After", "")
        self.retry_after = int(after) if after.isdecimal() else None
        place = f": {self.fields[0].location} {self.fields[0].message}" if self.fields else ""
        super().__init__(f"{status} {self.code}: {self.message}{place}")
