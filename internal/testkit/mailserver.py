"""A mail server for tests: aiosmtpd on a loopback port, delivering into a Maildir.

The first argument is a JSON object. It prints its port and ends with its
standard input, which ends with the process that started it.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import SMTP, AuthResult


class Refusing(Mailbox):
    """A maildir that is nobody's, and one that is busy."""

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 there is no such mailbox"
        if address.startswith("busy@"):
            return "451 4.3.0 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"


def main(settings):
    context = None
    if settings["cert"]:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(settings["cert"], settings["key"])
    user = settings["user"]

    def authenticate(server, session, envelope, mechanism, data):
        known = data.login.decode() == user and data.password.decode() == settings["password"]
        return AuthResult(success=known, handled=False)

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    handler, implicit = Refusing(settings["dir"]), settings["implicit"]

    def session():
        return SMTP(
            handler,
            hostname="mail.test",
            loop=loop,
            tls_context=None if implicit else context,
            require_starttls=context is not None and not implicit,
            authenticator=authenticate if user else None,
            auth_required=bool(user),
            auth_require_tls=not implicit,
        )

    listening = loop.create_server(session, "127.0.0.1", 0, ssl=context if implicit else None)
    server = loop.run_until_complete(listening)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop.add_reader(sys.stdin, lambda: sys.stdin.readline() or loop.stop())
    loop.run_forever()


main(json.loads(sys.argv[1]))
