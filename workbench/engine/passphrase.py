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

_ROUNDS = 1_000_000
_KEY_BYTES = 32
_SEALED = "pulumi"


def decrypt(text: str, salt: str, where: str) -> str:
    """Return the clear text of ``v1:<nonce>:<ciphertext>``.

    Raises:
        WorkbenchError: no passphrase is set, or it is wrong.
    """
    passphrase = _passphrase()
    if passphrase is None or not salt.startswith("v1:"):
        raise WorkbenchError(
            f"{where}: is encrypted; set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE (the local engine "
            "supports only the passphrase secrets provider)"
        )
    clear = _opened(text, passphrase, salt)
    if clear is None:
        raise WorkbenchError(f"{where}: cannot be decrypted with the given passphrase")
    return clear


def opens(salt: str, passphrase: str) -> bool:
    """Whether a passphrase matches a salt."""
    return _opened(salt.partition(":")[2].partition(":")[2], passphrase.strip(), salt) == _SEALED


def _opened(text: str, passphrase: str, salt: str) -> str | None:
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
    if (given := os.environ.get("PULUMI_CONFIG_PASSPHRASE")) is not None:
        return given
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


@lru_cache
def _key(passphrase: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", passphrase.encode(), salt, _ROUNDS, _KEY_BYTES)
