"""Secret settings of a stack file (``secure:``), to keep them out of messages."""

import json
from collections.abc import Iterator

from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from components.contract.base import Json

_MIN_LENGTH = 4
"""Minimum length of a secret to mask, in characters; shorter texts occur in ordinary words."""


def secret_settings() -> frozenset[str]:
    """Return the secret texts in the settings of the current stack.

    Pulumi marks a setting as a whole, even if only a part of it is encrypted.
    """
    secrets: set[str] = set()
    for key, text in {**get_config_env(), **CONFIG.get()}.items():
        if is_config_secret(key):
            try:
                value: Json = json.loads(text)
            except ValueError:
                value = text
            secrets.update(secret for secret in _texts(value) if len(secret) >= _MIN_LENGTH)
    return frozenset(secrets)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)
