"""Secret settings of a stack file (``secure:``), to keep them out of messages."""

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from components.contract.base import Json
from components.contract.texts.secrets import SECRET_TEXT

from .stack_file import StackFile

_MIN_LENGTH = 4
"""Minimum length of a secret to mask, in characters; shorter texts occur in ordinary words."""


def secret_settings() -> frozenset[str]:
    """Return the secret texts in the settings of the current stack.

    Pulumi marks a setting as a whole, even if only a part of it is encrypted; the file of the stack tells which part.
    """
    secrets: set[str] = set()
    stored: Mapping[str, Any] | None = None
    for key, text in {**get_config_env(), **CONFIG.get()}.items():
        if is_config_secret(key):
            try:
                value: Json = json.loads(text)
            except ValueError:
                value = text
            if stored is None:
                stored = StackFile(f"Pulumi.{pulumi.get_stack()}.yaml", Path()).config()
            # A setting that is secret for another reason than the file is secret as a whole.
            texts = [*_not_in_clear(value, stored.get(key))] or [*_texts(value)]
            # The placeholder of a secret that was not decrypted tells nothing.
            secrets.update(each for each in texts if len(each) >= _MIN_LENGTH and each != SECRET_TEXT)
    return frozenset(secrets)


def _not_in_clear(value: Json, stored: Any) -> Iterator[str]:  # noqa: ANN401  YAML
    """Yield the texts of a value that the file of the stack does not have in clear at the same place."""
    if isinstance(value, dict) and isinstance(stored, dict):
        for key, inner in value.items():
            yield from _not_in_clear(inner, stored.get(key))
    elif isinstance(value, list) and isinstance(stored, list):
        for inner, stored_inner in itertools.zip_longest(value, stored):
            yield from _not_in_clear(inner, stored_inner)
    elif value != stored:
        yield from _texts(value)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)
