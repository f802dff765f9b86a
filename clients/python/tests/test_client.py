"""Tests of the client against a server, whose address is in TRUNKLINE_URL. A Go test of server/cmd/trunkline
starts both."""

from __future__ import annotations

import os
import queue
import threading
import unittest
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import mock

from front import Front

from trunkline import Trunkline, TrunklineError, WebhookVerificationError, verify_webhook

URL = os.environ["TRUNKLINE_URL"]
WITHIN = 60  # seconds until a test gives up


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        account = {"name": "Ana", "email": "python@example.org", "password": "correct horse"}
        cls.token = Trunkline(URL).post("/user/signup", body=account)["token"]
        cls.api = Trunkline(URL + "/", cls.token)
        cls.reference = cls.api.post("/reference", body={"name": "Shop", "type": "provider-sandbox"})["id"]
        cls.front = Front(URL)
        cls.addClassCleanup(cls.front.close)

    def behind(self) -> Trunkline:
        """A client behind the proxy that does not wait long."""
        return Trunkline(self.front.url, self.token, pause=0.001)

    def write(self, sender: str, text: str) -> None:
        body = {"from": sender, "type": "text", "text": text}
        self.api.post("/sandbox/{reference}/messages", {"reference": self.reference}, body=body)

    def texts(self, chat: str) -> list[str]:
        """The texts of a chat, the newest first, a page for each."""
        return [m["text"] for m in self.api.all("/chats/messages", reference=self.reference, chatId=chat, limit=1)]

    def test_refusals(self) -> None:
        with self.assertRaises(TrunklineError) as wrong:
            self.api.post("/reference", body={"name": "", "type": "provider-sandbox"})
        self.assertEqual((wrong.exception.status, wrong.exception.code), (422, "validation"))
        self.assertEqual(wrong.exception.fields[0].location, "body.name")
        self.assertIn("body.name", str(wrong.exception))
        self.assertNotEqual(wrong.exception.request_id, "")
        with self.assertRaises(TrunklineError) as stranger:
            Trunkline(URL, "x").get("/reference/list")
        self.assertEqual((stranger.exception.status, stranger.exception.code), (401, "unauthorized"))
        with self.assertRaises(ValueError):
            self.api.get("/bot/{botId}", {"botId": ".."})
        with self.assertRaises(ValueError):
            Trunkline("file:///etc")

    def test_pages(self) -> None:
        for word in ("one", "two", "three"):
            self.api.send(self.reference, "pages", {"type": "text", "text": word})
        self.assertEqual(self.texts("pages"), ["three", "two", "one"])

    def test_key_sends_once(self) -> None:
        hello = {"type": "text", "text": "Hello"}
        first = self.api.send(self.reference, "key", hello, idempotency_key="k1")
        again = self.api.send(self.reference, "key", hello, idempotency_key="k1")
        self.assertEqual(again["id"], first["id"])
        with self.assertRaises(TrunklineError) as conflict:
            self.api.send(self.reference, "key", {"type": "text", "text": "Bye"}, idempotency_key="k1")
        self.assertEqual(conflict.exception.code, "conflict")
        self.assertEqual(self.texts("key"), ["Hello"])

    def test_file(self) -> None:
        file = self.api.upload(self.reference, b"Prices\r\n--", "prices ä.txt", "text/plain")
        sent = self.api.send(self.reference, "file", {"type": "document", "mediaId": file["mediaId"]})
        self.assertEqual((sent["type"], sent["fileName"]), ("document", "prices ä.txt"))

    def test_only_what_is_safe_is_repeated(self) -> None:
        self.front.seen.clear()
        self.front.faults += ["lost", "lost"]
        self.behind().send(self.reference, "lost", {"type": "text", "text": "Once"})
        self.assertEqual(self.front.seen, ["POST /chats/send"] * 3)
        self.assertEqual(self.texts("lost"), ["Once"])
        for fault in ("lost", "503"):
            self.front.faults.append(fault)
            self.behind().get("/reference/list")
            self.front.seen.clear()
            self.front.faults.append(fault)
            with self.assertRaises((TrunklineError, OSError)):
                self.behind().post("/reference", body={"name": "Twice", "type": "provider-sandbox"})
            self.assertEqual(self.front.seen, ["POST /reference"])
        self.front.faults.append("429")
        self.behind().post("/reference", body={"name": "Third", "type": "provider-sandbox"})

    def test_stream_continues_after_a_cut(self) -> None:
        opened: queue.Queue[None] = queue.Queue()
        words: queue.Queue[str] = queue.Queue()

        def follow() -> None:
            for event in self.behind().stream(reference=self.reference, on_open=lambda: opened.put(None)):
                if event.type == "message":
                    words.put(event.data["text"])
                    if event.data["text"] == "last":
                        return

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        opened.get(timeout=WITHIN)
        self.front.down()  # before the first event
        self.write("stream", "one")
        self.front.up()
        opened.get(timeout=WITHIN)
        self.assertEqual(words.get(timeout=WITHIN), "one")
        self.front.down()
        self.write("stream", "two")
        self.write("stream", "last")
        self.front.up()
        self.assertEqual(words.get(timeout=WITHIN), "two")
        self.assertEqual(words.get(timeout=WITHIN), "last")
        thread.join(WITHIN)
        self.assertFalse(thread.is_alive())
        with self.assertRaises(TrunklineError) as refused:
            next(Trunkline(URL, "x").stream())
        self.assertEqual(refused.exception.status, 401)

    def test_webhook_is_verified(self) -> None:
        url, received = self.receiver()
        hook = self.api.post(
            "/references/registerWebHook", body={"reference": self.reference, "webhook": url, "events": ["message"]}
        )
        old = hook["secret"]
        self.write("hook", "Is 5 € enough?")
        headers, body = received.get(timeout=WITHIN)
        event = verify_webhook(headers, body, old)
        self.assertEqual((event.id, event.type), (headers["webhook-id"], "message"))
        self.assertEqual((event.data["chatId"], event.data["text"]), ("hook@sandbox", "Is 5 € enough?"))
        plain = dict(headers.items())
        self.assertEqual(verify_webhook(plain, body, old), event)

        later = str(int(headers["webhook-timestamp"]) + 1)
        other = "whsec_" + "AAAA" * 8
        changed: list[tuple[dict[str, str], bytes, str]] = [
            ({}, body + b" ", old),
            ({}, body, other),
            ({"webhook-id": "another"}, body, old),
            ({"webhook-timestamp": later}, body, old),
            ({"webhook-timestamp": ""}, body, old),
            ({"webhook-timestamp": "²"}, body, old),
            ({"webhook-signature": "v1,?"}, body, old),
            ({"webhook-signature": "v1,ä"}, body, old),
            ({"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")}, body, old),
            ({"webhook-signature": ""}, body, old),
        ]
        lower = {name.lower(): value for name, value in plain.items()}
        for change, sent, secret in changed:
            with self.subTest(change=change), self.assertRaises(WebhookVerificationError):
                verify_webhook(lower | change, sent, secret)
        for seconds in (-302, 302):
            with mock.patch("time.time", return_value=int(headers["webhook-timestamp"]) + seconds):
                with self.assertRaises(WebhookVerificationError):
                    verify_webhook(headers, body, old)
                verify_webhook(headers, body, old, tolerance=600)

        rotated = self.api.patch(
            "/references/hookconf/{endpointId}", {"endpointId": hook["endpointId"]}, body={"rotateSecret": True}
        )
        self.write("hook", "Again")
        headers, body = received.get(timeout=WITHIN)
        self.assertEqual(len(headers["webhook-signature"].split()), 2)
        self.assertNotEqual(rotated["secret"], old)
        for secret in (old, rotated["secret"]):
            self.assertNotEqual(verify_webhook(headers, body, secret).id, event.id)

    def receiver(self) -> tuple[str, queue.Queue[tuple[Message, bytes]]]:
        """A server that takes deliveries."""
        received: queue.Queue[tuple[Message, bytes]] = queue.Queue()

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(204)
                self.end_headers()
                received.put((self.headers, body))

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/", received


if __name__ == "__main__":
    unittest.main()
