"""Secret settings of a stack file (``secure:``), to keep them out of messages."""

import json
from collections.abc import Iterator

from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from components.contract.base import Json

_SHORTEST = 4
"""Minimum length of a secret to mask; shorter texts occur in ordinary words."""


def secret_settings() -> frozenset[str]:
    """Return the secret texts in the settings of the current stack.

    Pulumi marks a setting as a whole, even if only a part of it is encrypted.
    """
    everything = {**get_config_env(), **CONFIG.get()}
    values = [value for key, value in everything.items() if is_config_secret(key)]
    return frozenset(text for value in values for text in _texts(_read(value)) if len(text) >= _SHORTEST)


def _read(value: str) -> Json:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)
