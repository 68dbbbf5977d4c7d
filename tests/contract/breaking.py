# ruff: noqa: E501 - tables of values
"""Ways to break a valid document, and to write it as clients do."""

import copy
from random import Random
from typing import Any

from components.contract.schema.narrowing import schema_graph
from components.contract.schema.structural import SchemaGraph
from tests.contract.documents import Document, kind_of

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 3, -1, 3.0, 0.0, 2.5, 1e300, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, "", "x", "main",
    "draft", "1", "1Gi", "500m", "1e3", "1e", ".5", "5.", "+1", "-1", "1 Gi", "1GB", "1Gi\n", "0%", "10%", "100%", "101%", "50%\n",
    "a" * 64, "a" * 300, "A", "a.b", "-a", "a-", "é", "oss://b.e/p", "oss://b/p", "OSS://b.e/p", "host:///p", "host://p", "s3://b/p",
    "gs://b/p", "ollama://m", "ollama://", "a://b://c", "host:///a\n", [], {}, [None], {"a": None}, {"a": "b"}, ["a"], [{}], [1],
    "Huggingface", "ModelScope", "huggingface", "2024-01-01T00:00:00Z", "RollingUpdate", "LeaderExcluded", "Default",
    0.5, 0.99, 128, 8192, "2.0", "org/repo", "https://example.com/m.gguf", "/m.gguf", "/\x0b", "/a b", "org/é", "0" * 64, "fp8", "vllm",
)  # fmt: skip


def broken(document: Document, random: Random, times: int, shape: SchemaGraph | None = None) -> Document:
    """Return a copy with something changed: values, fields dropped, added or doubled.

    Fields that are added are those of ``shape``, or else of the union of all releases.
    """
    document = copy.deepcopy(document)
    shape = shape or schema_graph(kind_of(document))
    for _ in range(times):
        _change(document, shape, random)
    return document


def grown(document: Document, random: Random, times: int, shape: SchemaGraph) -> Document:
    """Return a copy with fields of a schema added, so that most copies stay valid."""
    document = copy.deepcopy(document)
    for _ in range(times):
        paths = [path for path in _places(document) if path and path[0] == "spec"]
        if paths:
            _add_known(document, random.choice(paths), shape, random)
    return document


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def _change(document: Document, shape: SchemaGraph, random: Random) -> None:
    places = [p for p in _places(document) if len(p) > 1 and p[:2] != ("metadata", "name")]
    if not places:
        return
    path = random.choice([p for p in places if p[0] != "metadata"] * 6 + places)
    owner, key = _at(document, path[:-1]), path[-1]
    match random.randrange(7):
        case 0:
            del owner[key]
        case 1 | 2:
            owner[key] = copy.deepcopy(random.choice(ODD_VALUES))
        case 3:
            target = owner[key] if isinstance(owner[key], dict) else owner
            if isinstance(target, dict):
                target[random.choice(("unknown", "Name", "replica", ""))] = random.choice((None, 1, {}))
        case 4:
            target = owner if isinstance(owner, list) else owner[key]
            if isinstance(target, list) and target:
                target.append(copy.deepcopy(random.choice(target)))
        case _:
            _add_known(document, path, shape, random)


def _add_known(document: Document, path: tuple[Any, ...], shape: SchemaGraph, random: Random) -> None:
    """Add a field that the schema knows and the document does not have, with a plausible value."""
    value, schema = _at(document, path), shape.root
    for part in path:
        found = shape.field(schema, part)
        if found is None:
            return
        schema = found
    schema = shape.resolve(schema)
    if isinstance(value, dict) and schema.get("properties") and path[0] != "metadata":
        name = random.choice(sorted(schema["properties"]))
        value[name] = sample(schema["properties"][name], shape, random, depth=4)
    elif isinstance(value, list) and "items" in schema:
        value.append(sample(schema["items"], shape, random, depth=4))


def sample(schema: Any, shape: SchemaGraph, random: Random, depth: int) -> Any:
    """Return a value that mostly fits a schema."""
    schema = shape.resolve(schema)
    if random.random() < 0.06:
        return copy.deepcopy(random.choice(ODD_VALUES))
    if "enum" in schema:
        return random.choice(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return random.choice(("1", 1, "10%", "1Gi", 2.0))
    match schema.get("type"):
        case "integer":
            return random.choice((0, 1, 1, 2, 5, 8080, 3.0))
        case "number":
            return random.choice((0.1, 0.5, 0.99, 1, 2.5))
        case "boolean":
            return random.random() < 0.5
        case "array":
            return [sample(schema["items"], shape, random, depth - 1) for _ in range(random.randrange(3))]
        case "object" if "properties" in schema:
            wanted = set(schema.get("required", ()))
            if depth > 0:
                wanted |= {name for name in schema["properties"] if random.random() < 0.25}
            return {n: sample(schema["properties"][n], shape, random, depth - 1) for n in sorted(wanted)}
        case "object":
            extra = schema.get("additionalProperties")
            return {"a": sample(extra, shape, random, depth - 1)} if isinstance(extra, dict) else {}
        case _:
            return random.choice(("a", "b", "", "2024-01-01T00:00:00Z"))


_READ_BY_RULES = {
    "minReplicas",
    "maxReplicas",
    "size",
    "subGroupSize",
    "maxUnavailable",
    "maxSurge",
    "limits",
    "requests",
}


_READ_BY_RULES_OF = {
    "ModelBooster": {"scalingCost", "targetValue"},
    "ModelServing": {"replicas", "workerReplicas", "partition", "minRoleReplicas"},
    "AutoscalingPolicy": {"targetValue", "minRatio", "maxRatio"},
}


def sent(document: Document) -> Document:
    """Return the document as a client writes it that has integers: 3 for 3.0 where a CEL rule reads the number.

    CEL on the server takes no float for an integer ("expected int, got float64"); kubectl and every Go client
    write 3. Everywhere else the raw float is sent.
    """
    read = _READ_BY_RULES | _READ_BY_RULES_OF.get(str(document.get("kind")), set())
    written: Document = _sent(document, read, within=False)
    return written


def _sent(value: Any, read: set[str], *, within: bool) -> Any:
    if isinstance(value, dict):
        return {key: _sent(inner, read, within=within or key in read) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sent(item, read, within=within) for item in value]
    return int(value) if within and isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
