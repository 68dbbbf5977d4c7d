"""Decryption of ``secure:`` values in stack files, for Pulumi's passphrase secrets provider.

``encryptionsalt`` has the form ``v1:<salt>:<sealed>``, where ``<sealed>`` is the encrypted word "pulumi".
"""

import base64
import hashlib
import os
from functools import lru_cache
from pathlib import Path

from components.contract.texts.printable import printable

from ..errors import WorkbenchError

# AES-256-GCM with a key of PBKDF2, as in Pulumi's sdk/go/common/resource/config/crypt.go
# (NewSymmetricCrypterFromPassphrase).
_ROUNDS = 1_000_000
_KEY_BYTES = 32
_PLAINTEXT = "pulumi"
_FORM = "v1:"
"""How the salt of the passphrase secrets provider begins."""


class EncryptedError(Exception):
    """A value stays encrypted; the message is the reason."""


def can_decrypt(salt: str) -> bool:
    """Whether there is a passphrase, and secrets are encrypted with one."""
    return salt.startswith(_FORM) and _passphrase() is not None


def decrypt(text: str, salt: str) -> str:
    """Return the clear text of ``v1:<nonce>:<ciphertext>``.

    Raises:
        EncryptedError: no passphrase is set, or it is wrong.
    """
    passphrase = _passphrase()
    if passphrase is None or not salt.startswith(_FORM):
        raise EncryptedError(
            "is encrypted; set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE (the local engine supports "
            "only the passphrase secrets provider)"
        )
    clear_text = _decrypted(text, passphrase, salt)
    if clear_text is None:
        raise EncryptedError("cannot be decrypted with the given passphrase")
    return clear_text


def opens(salt: str, passphrase: str) -> bool:
    """Whether a passphrase matches a salt."""
    return _decrypted(salt.partition(":")[2].partition(":")[2], passphrase.strip(), salt) == _PLAINTEXT


def _decrypted(text: str, passphrase: str, salt: str) -> str | None:
    """Return the clear text; None if the passphrase is wrong."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        nonce, sealed = text.removeprefix("v1:").split(":")
        key = _key(passphrase, base64.b64decode(salt.split(":")[1]))
        return AESGCM(key).decrypt(base64.b64decode(nonce), base64.b64decode(sealed), None).decode()
    except (ValueError, IndexError, InvalidTag):
        return None


def _passphrase() -> str | None:
    """Read the passphrase from the environment variables of the Pulumi CLI."""
    if (passphrase := os.environ.get("PULUMI_CONFIG_PASSPHRASE")) is not None:
        return passphrase
    file = os.environ.get("PULUMI_CONFIG_PASSPHRASE_FILE")
    if not file:
        return None
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise WorkbenchError(
            f"PULUMI_CONFIG_PASSPHRASE_FILE: {printable(file)} cannot be read: {reason}; name a file with the "
            "passphrase of the stack, or set PULUMI_CONFIG_PASSPHRASE"
        ) from None


@lru_cache  # a million rounds take a noticeable time, and all secrets of a stack have the same key
def _key(passphrase: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", passphrase.encode(), salt, _ROUNDS, _KEY_BYTES)
