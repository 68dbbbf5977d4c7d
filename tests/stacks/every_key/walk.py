"""Every key that the settings of a stack have, read off their models."""

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from components.plan.section import Section
from stacks.settings import Settings


def keys(model: type[BaseModel] = Settings, path: str = "") -> Iterator[str]:
    """Yield the path of each key: ``a.b``, with ``*`` below a map and ``[]`` below a list."""
    for name, field in model.model_fields.items():
        if field.exclude:
            continue
        here = f"{path}{field.alias or name}"
        below = list(_sections(field.annotation))
        if not below:
            yield here
        for section, suffix in below:
            yield from keys(section, f"{here}{suffix}.")


def _sections(annotation: Any) -> Iterator[tuple[type[Section], str]]:
    """Yield the sections that a value holds, with how it holds them."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation, ""
    origin = get_origin(annotation)
    suffix = ".*" if origin is dict else "[]" if origin is list else ""
    for inner in get_args(annotation):
        yield from ((section, suffix + more) for section, more in _sections(inner))


def with_value(settings: dict[str, Any], path: str, value: Any, entry: str) -> dict[str, Any]:
    """Return settings with a value at a path, in which ``*`` stands for an entry of a map."""
    step, _, rest = path.partition(".")
    if step.endswith("[]"):
        name = step.removesuffix("[]")
        (first, *others) = settings.get(name) or [{}]
        return {**settings, name: [with_value(first, rest, value, entry), *others]}
    name = entry if step == "*" else step
    return {**settings, name: with_value(settings.get(name) or {}, rest, value, entry) if rest else value}


def merged(settings: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Return settings with others over them; maps are merged."""
    both = dict(settings)
    for key, value in over.items():
        there = both.get(key)
        both[key] = merged(there, value) if isinstance(there, dict) and isinstance(value, dict) else value
    return both
