"""An issuer of tokens on loopback: its keys over TLS, and tokens of every kind of wrong."""

import asyncio
import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from toolkit.certificates import self_signed

ISSUER, AUDIENCE = "https://id.example.com", "models"


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Signer:
    """A key of RSA, which signs as RS256 (RFC 7518)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def published(self) -> dict[str, str]:
        numbers = self._key.public_key().public_numbers()
        named = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": self.name}
        return {**named, "n": _number(numbers.n), "e": _number(numbers.e)}

    def token(self, algorithm: str = "RS256", **claims: Any) -> str:
        """A token that is right unless claims say otherwise; a claim that is None is left out."""
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "carol", "exp": int(time.time()) + 600, **claims}
        kept = {key: value for key, value in said.items() if value is not None}
        header = {"alg": algorithm, "typ": "JWT", "kid": self.name}
        signed = ".".join(_text(json.dumps(part).encode()) for part in (header, kept))
        if algorithm == "none":
            return f"{signed}."
        return f"{signed}.{_text(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that is its own authority."""

    certificate: Path
    key: Path


def certificate_of(folder: Path, host: str) -> Certificate:
    """Make a certificate for a server of this name."""
    return Certificate(*self_signed(folder, host, host))


@dataclass(frozen=True, slots=True)
class Published:
    """Where an issuer's keys are, and the authority of that address."""

    url: str
    certificate: Certificate


@contextmanager
def published(signer: Signer, folder: Path) -> Iterator[Published]:
    """Publish the keys of a signer at https://localhost."""
    certificate = certificate_of(folder, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.certificate, certificate.key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def keys(_: web.Request) -> web.Response:
        return web.json_response({"keys": [signer.published]})

    async def start() -> web.AppRunner:
        application = web.Application()
        application.router.add_get("/keys", keys)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield Published(f"https://localhost:{runner.addresses[0][1]}/keys", certificate)
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
