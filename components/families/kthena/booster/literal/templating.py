"""``${NAME}`` in strings of the user, which Kthena's controllers take for their own (Kthena spec D-26)."""

import json
from collections.abc import Mapping

from .....contract.base import Json
from .....fleet.objects import Object
from ...types.model_booster import ModelBackend
from .command import Unconvertible

_DEEPEST = 100
"""Upstream goes on without end."""


def substituted(body: Object, model: str, backend: ModelBackend) -> Object:
    """Return a ModelServing with the names of the controllers' own values replaced wherever they stand.

    Raises:
        Unconvertible: another name, or one that leads to itself.
    """
    spec: Object = _replaced(body["spec"], _values(body, model, backend), 0)
    return {**body, "spec": spec}


def _values(body: Object, model: str, backend: ModelBackend) -> Mapping[str, Json]:
    """Return the names that a user may hit upon, with their values, where these are plain."""
    values = {
        "MODEL_NAME": model,
        "BACKEND_REPLICAS": backend.min_replicas,
        "MODEL_DOWNLOAD_ENVFROM": list(backend.env_from or ()) or None,
    }
    if backend.type == "vLLM":
        values |= {
            "BACKEND_NAME": backend.name.lower(),
            "BACKEND_TYPE": backend.type.lower(),
            "WORKER_ENV": list(backend.env or ()) or None,
        }
    roles = body["spec"]["template"]["roles"]
    values |= {
        "MODEL_SERVING_RUNTIME_ENGINE": backend.type.lower(),
        "MODEL_SERVING_RUNTIME_POD": "$(POD_NAME).$(NAMESPACE)",
    }
    runtime = roles[0]["entryTemplate"]["spec"]["containers"][0]
    values |= {
        "MODEL_SERVING_RUNTIME_IMAGE": runtime["image"],
        "MODEL_SERVING_RUNTIME_PORT": runtime["ports"][0]["containerPort"],
    }
    return values


def _replaced(value: Json, values: Mapping[str, Json], depth: int) -> Json:
    if depth > _DEEPEST:
        raise Unconvertible("a ${NAME} leads to itself, and the controllers never end (D-26)")
    match value:
        case dict():
            return {key: _replaced(inner, values, depth) for key, inner in value.items()}
        case list():
            return [_replaced(inner, values, depth) for inner in value]
        case str() if value.startswith("${") and value.endswith("}"):
            return _replaced(_value(value[2:-1], values), values, depth + 1)
        case str() if "${" in value:
            return _filled(value, values)
    return value


def _filled(text: str, values: Mapping[str, Json]) -> str:
    before, opened, rest = text.partition("${")
    if not opened:
        return text
    name, closed, after = rest.partition("}")
    if not closed:
        raise Unconvertible(f"found ${{ without its end in {text!r} (D-26)")
    value = _value(name, values)
    written = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return f"{before}{written}{_filled(after, values)}"


def _value(name: str, values: Mapping[str, Json]) -> Json:
    if name not in values:
        raise Unconvertible(f"${{{name}}} is none of the controllers' own names (D-26)")
    return values[name]
