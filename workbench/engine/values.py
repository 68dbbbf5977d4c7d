"""Values of resources: secrets, unknowns, and how they are masked and stored."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from components.contract.texts.secrets import SECRET_TEXT, masked_at, replace_secrets
from components.contract.texts.secrets import masked as mask_texts

SEALED = "$sealed"


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A value that is never displayed or stored in clear text."""

    value: Any

    def __repr__(self) -> str:
        return SECRET_TEXT


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is unknown until a resource is deployed."""

    def __repr__(self) -> str:
        return "[unknown]"


UNKNOWN = Unknown()


def has_unknown(value: object) -> bool:
    """Whether a value contains an unknown at any depth."""
    if isinstance(value, dict):
        return any(has_unknown(inner) for inner in value.values())
    if isinstance(value, list):
        return any(has_unknown(inner) for inner in value)
    return isinstance(value, Unknown) or (isinstance(value, Secret) and has_unknown(value.value))


def has_secret(value: object) -> bool:
    """Whether a value contains a secret at any depth."""
    if isinstance(value, dict):
        return any(has_secret(inner) for inner in value.values())
    if isinstance(value, list):
        return any(has_secret(inner) for inner in value)
    return isinstance(value, Secret)


def reveal(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value with secrets in clear text, for the API server only."""
    if isinstance(value, dict):
        return {key: reveal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [reveal(inner) for inner in value]
    return reveal(value.value) if isinstance(value, Secret) else value


def seal(value: Any, key: bytes) -> Any:  # noqa: ANN401
    """Replace each secret by a keyed digest, which still reveals changes."""
    if isinstance(value, dict):
        return {name: seal(inner, key) for name, inner in value.items()}
    if isinstance(value, list):
        return [seal(inner, key) for inner in value]
    if isinstance(value, Secret):
        text = json.dumps(_with_placeholders(reveal(value.value)), sort_keys=True).encode()
        return {SEALED: hmac.new(key, text, hashlib.sha256).hexdigest()}
    return "[unknown]" if isinstance(value, Unknown) else value


def resealed(old: Any, new: Any, key: bytes) -> Any:  # noqa: ANN401
    """Seal and unseal values of a stored input like in the new one, if they are equal.

    Which fields are secrets can change between versions; that alone is no change of a resource.
    """
    if old == new:
        return old
    if is_sealed(new) != is_sealed(old):
        clear, sealed = (old, new) if is_sealed(new) else (new, old)
        return new if seal(Secret(clear), key) == sealed else old
    if isinstance(old, dict) and isinstance(new, dict):
        return {name: resealed(inner, new[name], key) if name in new else inner for name, inner in old.items()}
    if isinstance(old, list) and isinstance(new, list):
        return [resealed(a, b, key) for a, b in zip(old, new, strict=False)] + old[len(new) :]
    return old


def is_sealed(value: object) -> bool:
    """Whether a stored value is the digest of a secret."""
    return isinstance(value, dict) and SEALED in value


def masked(value: Any) -> Any:  # noqa: ANN401
    """Return the value for display, with placeholders for unknowns, and for secrets whether marked or not."""
    return mask_texts(_with_placeholders(value))


def masked_part(value: Any, path: Sequence[str], kind: str = "") -> Any:  # noqa: ANN401
    """Return a part of a resource for display.

    Args:
        value: The part.
        path: Where it is in the resource.
        kind: Kind of a Kubernetes object.
    """
    return masked_at(_with_placeholders(value), path, kind=kind)


def _with_placeholders(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        if is_sealed(value):
            return SECRET_TEXT
        return {key: _with_placeholders(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_placeholders(inner) for inner in value]
    return repr(value) if isinstance(value, Secret | Unknown) else value


def with_secrets(value: Any, known: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401
    """Mark values that look like secrets or contain a known one, if the program did not."""
    marked = replace_secrets(value, lambda secret, _: Secret(secret))
    return _with_known(marked, known) if known else marked


def _with_known(value: Any, known: frozenset[str]) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _with_known(inner, known) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_known(inner, known) for inner in value]
    return Secret(value) if isinstance(value, str) and any(secret in value for secret in known) else value


def secret_texts(value: object, *, inside: bool = False) -> set[str]:
    """Return every string inside secrets, to mask them in messages that quote the request."""
    if isinstance(value, Secret):
        return secret_texts(value.value, inside=True)
    if isinstance(value, dict):
        return set().union(*(secret_texts(inner, inside=inside) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(secret_texts(inner, inside=inside) for inner in value))
    return {str(value)} if inside and isinstance(value, str) and value else set()
