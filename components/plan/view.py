"""A flat view of a rendered fleet: every value by a readable path."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from ..contract.problems import field_path
from ..fleet.endpoints import Endpoint
from ..fleet.rendered import Fleet, Rendered
from ..fleet.shapes import SHAPES
from ..fleet.workloads import by_set

_PODS = {
    f"{template.path}.spec.": f"{template.role} pod ".lstrip() for shape in SHAPES for template in shape.templates
}
"""Names of the pod templates of workloads, by path prefix."""
_VECTORS = ("args", "command")
_NUMBER = re.compile(r"-?[0-9.]+")
_NAMED = 2
"""Maximum of objects named in a line; further ones are counted."""
_OWN_COMMAND = 2
"""A shell and its option; the rest is one script, not arguments."""


def view(fleet: Fleet) -> dict[str, str]:
    """Return every value of the objects, endpoints and node demand of a fleet, by path.

    Containers, variables and ports are listed by name, arguments by flag.
    """
    values: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for item in fleet.rendered:
        for path, value in _resource_values(item):
            unique = path
            # Repeated paths, such as those of a repeated flag, are numbered.
            while unique in values:
                numbers[path] = numbers.get(path, 1) + 1
                unique = f"{path} ({numbers[path]})"
            values[unique] = value
    return values


def _resource_values(item: Rendered) -> Iterator[tuple[str, str]]:
    for body in item.objects:
        name = f"{body['kind']}/{body['metadata']['name']}: "
        for path, value in _flat("", body):
            yield name + _short(path), value
    # Equal workloads of a set are combined.
    for (_, name), parts in by_set(item.workloads).items():
        for number, demands in enumerate(zip(*(part.pods for part in parts), strict=True)):
            pods, prefix = demands[0], f"nodes for {name} (workers): " if number else f"nodes for {name}: "
            yield f"{prefix}pods", str(sum(demand.pods for demand in demands))
            for resource, amount in pods.requests.items():
                yield f"{prefix}requests {resource}", _text(amount)
            for index, choice in enumerate(pods.choices):
                for label, value in choice.labels.items():
                    yield f"{prefix}choice {index} {label}", value
    for endpoint in item.endpoints:
        for field, value in _endpoint_values(endpoint):
            yield f"endpoint of {endpoint.name}: {field}", value
    for need in sorted(item.needs):
        yield f"needs of {item.name}: {need}", ""


def _endpoint_values(endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    yield "url", endpoint.url
    yield "model", endpoint.model
    for header in endpoint.headers:
        yield f"header {header.name} ({header.kind})", header.value
    for backend in endpoint.backends:
        if backend.weight is not None:
            yield f"weight of {backend.service}", str(backend.weight)
        if backend.served_name:
            yield f"name of the model at {backend.service}", backend.served_name


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            step = field_path([key])
            yield from _flat(f"{path}{step}" if step.startswith("[") or not path else f"{path}.{step}", inner)
    elif isinstance(value, list) and value and path.rpartition(".")[2] in _VECTORS:
        yield from _arguments(path, value)
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            is_named = isinstance(item, Mapping) and isinstance(item.get("name"), str)
            yield from _flat(f"{path}[{item['name'] if is_named else number}]", item)
    else:
        yield path, _text(value)


def _arguments(path: str, words: list[str]) -> Iterator[tuple[str, str]]:
    """List arguments by flag; a word after a flag that is not a flag itself is its value."""
    remaining = deque(str(word) for word in words)
    if len(remaining) > _OWN_COMMAND and remaining[1] == "-c":
        yield path, " ".join(remaining)
        return
    position = 0
    while remaining:
        word = remaining.popleft()
        if not _is_flag(word):
            yield f"{path}[{position}]", word
            position += 1
            continue
        flag, equals, value = word.partition("=")
        if not equals and remaining and not _is_flag(remaining[0]):
            value = remaining.popleft()
        yield f"{path} {flag}", value


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not _NUMBER.fullmatch(word)


def _short(path: str) -> str:
    for long, short in _PODS.items():
        if path.startswith(long):
            return short + path.removeprefix(long)
    return path


def _text(value: Any) -> str:  # noqa: ANN401 - any scalar
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value if isinstance(value, str) else json.dumps(value)


def lines(values: Mapping[str, str], other_paths: Iterable[str]) -> list[str]:
    """Format paths with their values; equal values of several objects share a line.

    Args:
        values: Values by path.
        other_paths: Paths of another view. If it lacks several whole objects, only their names are written.
    """
    present = {head for head, _ in map(_parted, other_paths)}
    missing = {head for head, _ in map(_parted, values) if _is_object(head)} - present
    folded: dict[tuple[str, str, str], dict[str, None]] = {}
    for path, value in values.items():
        head, field = _parted(path)
        kind, _, name = head.partition("/") if _is_object(head) else (head, "", "")
        by_name = head in missing and len(missing) > 1
        folded.setdefault((kind, "" if by_name else field, "" if by_name else value), {})[name] = None
    formatted = []
    for (kind, field, value), names in folded.items():
        first = [name for name in names if name]
        more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
        title = f"{kind}/{', '.join(first[:_NAMED])}{more}" if first else kind
        path = f"{title}: {field}" if field else title
        # A flag is followed by its value, as on a command line.
        formatted.append(f"{path} {value}" if " -" in path else f"{path} = {value}" if value else path)
    return formatted


def _parted(path: str) -> tuple[str, str]:
    head, _, field = path.partition(": ")
    return head, field


def _is_object(head: str) -> bool:
    return "/" in head and " " not in head
