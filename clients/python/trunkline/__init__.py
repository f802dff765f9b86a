"""Client of the Trunkline API. It needs only the standard library."""

from .client import StreamEvent, Trunkline
from .errors import FieldError, TrunklineError
from .webhook import WebhookEvent, WebhookVerificationError, verify_webhook

__all__ = [
    "FieldError",
    "StreamEvent",
    "Trunkline",
    "TrunklineError",
    "WebhookEvent",
    "WebhookVerificationError",
    "verify_webhook",
]
