"""Calls of the API."""

from __future__ import annotations

import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any, cast

from .errors import TrunklineError

_QUIET = 60.0
"""After so many seconds without a byte a stream is broken: the server writes every 15 s."""

_LONGEST = 64 << 20
"""A line of a stream has at most so many bytes."""

_LOST = (HTTPException, OSError)
"""What a request raises whose answer did not come. urllib.error.URLError is an OSError."""


@dataclass(frozen=True)
class StreamEvent:
    """An event of the stream. A newer server may have more types: ignore those that you do not know."""

    id: str
    """The position in the stream: ``after`` continues behind it."""
    type: str
    """``message``, ``status``, ``session``, ``chat``, ``delivery`` or ``resync``."""
    data: Any
    """The record, which the OpenAPI document describes for each type."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which could take the token elsewhere."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Trunkline:
    """Calls a Trunkline server. A refusal raises a TrunklineError. It is safe to use from several threads.

    A request that the server refuses because there are too many (429) is repeated. After other passing errors
    (502, 503, 504, a broken connection) only GET, PUT and requests with an idempotency key are, so that nothing
    is done twice.
    """

    def __init__(
        self, base_url: str, token: str | None = None, *, retries: int = 3, pause: float = 0.25, timeout: float = 60
    ) -> None:
        """``token`` is that of a log-in, or a scoped token; signing up and logging in need none. The first
        repetition is after ``pause`` seconds, and each pause is twice as long as the one before. The server
        may be silent for ``timeout`` seconds.
        """
        if not re.match(r"https?://[^/]", base_url):
            raise ValueError("base_url must begin with http:// or https://")
        self._base = base_url.rstrip("/")
        self._token = token
        self._retries = retries
        self._pause = pause
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, object] | None = None,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Calls an operation of the API and returns its answer: JSON, text, or None.

        ``path`` is as the API's document has it: ``params`` are the values of its ``{names}``. ``body`` is
        written as JSON; bytes are sent as they are, with the Content-Type of ``headers``.
        """
        sent = dict(headers or {})
        if method == "POST" and path == "/chats/send":
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        repeatable = method in ("GET", "PUT") or "Idempotency-Key" in sent
        attempt = 0
        while True:
            request = self._prepare(method, path, params, query, body, sent)
            try:
                with self._open(request, self._timeout) as response:
                    return _read(response)
            except (TrunklineError, *_LOST) as error:
                if attempt >= self._retries or not _passing(error, repeatable):
                    raise
                self._wait(attempt, error)
            attempt += 1

    def get(self, path: str, params: Mapping[str, object] | None = None, **query: object) -> Any:
        """Makes a GET request: ``api.get("/chats/list", reference=1)``."""
        return self.request("GET", path, params, query=query)

    def post(self, path: str, params: Mapping[str, object] | None = None, *, body: object = None) -> Any:
        """Makes a POST request: ``api.post("/reference", body={"name": "Shop", "type": "provider-sandbox"})``."""
        return self.request("POST", path, params, body=body)

    def put(self, path: str, params: Mapping[str, object] | None = None, *, body: object = None) -> Any:
        """Makes a PUT request."""
        return self.request("PUT", path, params, body=body)

    def patch(self, path: str, params: Mapping[str, object] | None = None, *, body: object = None) -> Any:
        """Makes a PATCH request."""
        return self.request("PATCH", path, params, body=body)

    def delete(self, path: str, params: Mapping[str, object] | None = None, **query: object) -> Any:
        """Makes a DELETE request."""
        return self.request("DELETE", path, params, query=query)

    def all(self, path: str, params: Mapping[str, object] | None = None, **query: object) -> Iterator[Any]:
        """Iterates over all items of a list, page by page."""
        while True:
            page = self.get(path, params, **query)
            yield from page["items"] or []
            if not page.get("next"):
                return
            query["cursor"] = page["next"]

    def send(
        self,
        reference: int,
        chat_id: str,
        message: Mapping[str, object],
        *,
        idempotency_key: str | None = None,
        wait: int | None = None,
        **more: object,
    ) -> dict[str, Any]:
        """Sends a message and returns it. ``more`` are other members of the body, such as ``clientId``.

        A send with a key that was used within 24 hours sends nothing and returns the first message. Without
        ``idempotency_key`` it has a random one. The server waits ``wait`` seconds for the first attempt,
        by default 10.
        """
        body = {"reference": reference, "chatId": chat_id, "message": message, **more}
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        answer = self.request("POST", "/chats/send", query={"wait": wait}, body=body, headers=headers)
        return answer["message"]

    def upload(self, reference: int, file: bytes, name: str, content_type: str = "application/octet-stream") -> dict[str, Any]:
        """Stores a file, to be sent by its id."""
        boundary = uuid.uuid4().hex
        quoted = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        body = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="reference"\r\n\r\n{reference}\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'
            f"Content-Type: {content_type}\r\n\r\n"
        ).encode() + file + f"\r\n--{boundary}--\r\n".encode()
        return self.request("POST", "/media", body=body, headers={"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def stream(
        self, *, reference: int | None = None, after: str | None = None, on_open: Callable[[], None] | None = None
    ) -> Iterator[StreamEvent]:
        """Iterates over events in the order of their commits, until the loop is left.

        A broken stream continues behind the last event. An error that no repetition mends, such as a token
        that is not valid any more, is raised. ``after`` is the id of the last event that you received; without
        it the stream begins now. ``on_open`` is called each time the stream is open: events from now on are
        not missed.
        """
        broken = 0
        while True:
            error: Exception = ConnectionError("the stream ended")
            try:
                headers = {"Accept": "text/event-stream", **({"Last-Event-ID": after} if after else {})}
                request = self._prepare("GET", "/chats/stream", None, {"reference": reference}, None, headers)
                with self._open(request, _QUIET) as response:
                    opened = False
                    for id, type, data in _frames(response):
                        after = id or after
                        if not opened and on_open:
                            on_open()
                        opened = True
                        if type:
                            broken = 0
                            yield StreamEvent(id, type, json.loads(data))
            except (TrunklineError, *_LOST) as raised:
                if isinstance(raised, TrunklineError) and raised.status < 500 and raised.status != 429:
                    raise
                error = raised
            self._wait(broken, error)
            broken += 1

    def _prepare(
        self,
        method: str,
        path: str,
        params: Mapping[str, object] | None,
        query: Mapping[str, object] | None,
        body: object,
        headers: Mapping[str, str],
    ) -> urllib.request.Request:
        url = self._base + _filled(path, params or {})
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        if given:
            url += "?" + urllib.parse.urlencode(given)
        request = urllib.request.Request(url, method=method, headers=dict(headers))
        if self._token:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        if isinstance(body, bytes):
            request.data = body
        elif body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        return request

    def _open(self, request: urllib.request.Request, timeout: float) -> HTTPResponse:
        try:
            return self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise TrunklineError(error.code, error.reason, error.headers, error.read()) from None

    def _wait(self, attempt: int, error: Exception) -> None:
        """Waits as long as the server says, or else longer after each attempt."""
        grown = self._pause * 2 ** min(attempt, 6) * (1 + random.random() / 2)
        said = error.retry_after if isinstance(error, TrunklineError) else None
        time.sleep(said or grown)


def _passing(error: Exception, repeatable: bool) -> bool:
    """Whether another attempt may help and does no harm."""
    if not isinstance(error, TrunklineError):
        return repeatable
    after = error.retry_after or 0
    match error.status:
        case 429:
            return after <= 60
        case 409:  # the first request with the key is still under way
            return repeatable and after > 0
        case 502:  # of a proxy; the server's own has a code
            return repeatable and error.code == ""
        case 503 | 504:
            return repeatable
        case _:
            return False


def _read(response: HTTPResponse) -> Any:
    raw = response.read()
    if not raw:
        return None
    if re.search(r"[/+]json\b", response.headers.get("Content-Type", "")):
        return json.loads(raw)
    return raw.decode()


def _frames(response: HTTPResponse) -> Iterator[tuple[str, str, str]]:
    """Reads server-sent events: the position, the type and the data of each."""
    id, type, data = "", "", ""
    while line := response.readline(_LONGEST):
        if not line.endswith(b"\n"):
            raise ConnectionError("the stream broke within a line")
        name, _, value = line.decode().rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if line in (b"\n", b"\r\n"):
            yield id, type, data
            type, data = "", ""
        elif name == "id":
            id = value
        elif name == "event":
            type = value
        elif name == "data":
            data += value


def _filled(path: str, params: Mapping[str, object]) -> str:
    """Fills the parameters of a path. A value must not lead to another path."""

    def value(match: re.Match[str]) -> str:
        text = str(params[match[1]])
        if text in ("", ".", ".."):
            raise ValueError(f"{match[1]} must not be {text!r}")
        return urllib.parse.quote(text, safe="")

    return re.sub(r"\{([^}]+)\}", value, path)


def _text(value: object) -> str:
    """Writes a value of a query."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in cast("list[object]", value))
    return str(value)
