"""Verification of webhooks, as in Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol


class WebhookVerificationError(Exception):
    """A delivery that must not be trusted."""


class Headers(Protocol):
    """Headers of a request: those of http.server, of a framework, or a dict."""

    def items(self) -> Iterable[tuple[str, str]]: ...


@dataclass(frozen=True)
class WebhookEvent:
    """An event as a webhook receives it."""

    id: str
    """The same in every attempt and replay: process each id once."""
    type: str
    """``message``, ``status``, and so on."""
    timestamp: datetime
    """When this attempt was signed."""
    data: Any
    """The payload, which the OpenAPI document describes for each type."""


def verify_webhook(headers: Headers, body: bytes, secret: str, *, tolerance: float = 300) -> WebhookEvent:
    """Verifies a delivery and returns its event.

    ``body`` must be the bytes that were received, and ``secret`` is that of the webhook, ``whsec_…``. The time
    of the delivery may be ``tolerance`` seconds from this computer's. Raises WebhookVerificationError.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    id, at = lower.get("webhook-id", ""), lower.get("webhook-timestamp", "")
    if not id or not (at.isascii() and at.isdecimal() and len(at) < 16):
        raise WebhookVerificationError("the delivery has no id or no time")
    if abs(time.time() - int(at)) > tolerance:
        raise WebhookVerificationError("the delivery is too old or from the future")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    want = base64.b64encode(hmac.digest(key, f"{id}.{at}.".encode() + body, hashlib.sha256))
    given = lower.get("webhook-signature", "").encode().split()
    if not any([hmac.compare_digest(b"v1," + want, one) for one in given]):
        raise WebhookVerificationError("no signature is by this secret")
    timestamp = datetime.fromtimestamp(int(at), timezone.utc)
    return WebhookEvent(id, lower.get("x-trunkline-event", ""), timestamp, json.loads(body))
