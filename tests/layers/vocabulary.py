"""Words that belong to a family: its kinds, its groups and its fields, read from its types."""

import functools
import re
import typing
from collections.abc import Iterator

from pydantic import BaseModel

from components.contract.schema.embedded import definitions
from components.engines.settings import Setting
from components.families import FAMILIES
from components.families.family import Family
from tests.layers.modules import Module

WAIST = "leaderworkerset"
"""LeaderWorkerSet is a workload kind of the waist, like Deployment: every room may name it."""
KEYS = {"llmaz": ("INSTANCE-TYPE",)}
"""Keys of maps that a family gives a meaning; no type tells them."""
ORDINARY = {
    "kinds of core Kubernetes and of this project as well": "Service Model",
    "fields and groups of Kubernetes' own objects": (
        "autoscaling availableReplicas behavior cpu currentReplicas desiredReplicas memory resourceVersion "
        "resource_version strategy targetRef uid uri"
    ),
    "what a fleet is made of, here and in every family": (
        "accelerator backends body cost endpoint flavors gpu hpa model models pod_annotations pod_labels runtime "
        "template version"
    ),
    "words of any program": (
        "config count enabled filename format global instances owner params percent rules sha256 timeout unit"
    ),
    "parts of requests, gateways and clouds": (
        "address exact headers rateLimit rate_limit redis regex roles target_value workers"
    ),
    "fields of Volcano's PodGroup": "highest_tier_allowed network_topology",
    "the method of Decimal": "quantize",
    "files of weights, named for their suffix": "gguf",
    "a value of the chart of the Cluster Autoscaler": "extraArgs",
    "metadata of Envoy AI Gateway": "backend_name",
    "fields of OpenAI's list of models": "max_model_len owned_by",
    "fields of what engines answer": "context_length created_at max_input_length max_total_tokens",
    "a metric of the Workload Variant Autoscaler": "desired_replicas",
    "the model of queues, and what is asked of it": "accelerators alpha applied beta load",
    "the shape of a model": "factor layers",
    "what a pod and a node do before they work": "startup",
    "what engines can be told": " ".join(Setting),
}
"""Words that a family has in common with others, by what they are there."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def distinctive_fields(family: Family) -> frozenset[str]:
    """Return the fields that are a family's own, as they are written in manifests and in Python."""
    shared = {word for other in FAMILIES if other is not family for word in _fields(other)}
    core = {field for found in definitions().values() for field in found.get("properties", ())}
    ordinary = {*core, *map(_snake, core), *shared, *ordinary_words()}
    return frozenset({*_fields(family), *KEYS.get(family.name, ())} - ordinary)


def distinctive_kinds(family: Family) -> frozenset[str]:
    """Return the kinds that are a family's own, in snake case."""
    return frozenset(
        _snake(member.kind.kind) for member in family.members if member.kind.kind not in ordinary_words()
    )


def groups(family: Family) -> frozenset[str]:
    """Return the API groups of a family."""
    return frozenset(member.kind.group for member in family.members)


def ordinary_words() -> frozenset[str]:
    """Return the words that are nobody's own."""
    return frozenset(word for words in ORDINARY.values() for word in words.split())


def families_named(module: Module) -> Iterator[str]:
    """Yield kinds, groups and fields of families that a module outside of them names."""
    for family in FAMILIES:
        own = (f"components/families/{family.name}", f"components/resources/{family.name}")
        if family.name != WAIST and not module.is_in(*own):
            yield from (
                f"{module.path}:{line}: {word!r} is of {family.name}" for line, word in _named(module, family)
            )


def _named(module: Module, family: Family) -> Iterator[tuple[int, str]]:
    known, kinds, fields = groups(family), _kind_pattern(family.name), _words_of(family.name)
    for word in module.words:
        tokens = _TOKEN.findall(word.text)
        if any(group in word.text for group in known):
            yield word.line, word.text
        else:
            yield from ((word.line, token) for token in tokens if token in fields or kinds.search(_snake(token)))


@functools.cache
def _words_of(name: str) -> frozenset[str]:
    return distinctive_fields(_family(name))


@functools.cache
def _kind_pattern(name: str) -> re.Pattern[str]:
    """Find a kind as a part of a name, such as that of a class or function; without any kind, nothing."""
    words = "|".join(sorted(distinctive_kinds(_family(name)))) or "(?!)"
    return re.compile(rf"(?:^|[_-])(?:{words})s?(?:[_-]|$)")


def _family(name: str) -> Family:
    return next(family for family in FAMILIES if family.name == name)


def _fields(family: Family) -> frozenset[str]:
    """Return the fields of the types that are written in a family's folder."""
    seen: set[type[BaseModel]] = set()
    for member in family.members:
        _collect(member.kind.model, seen)
    own = [model for model in seen if model.__module__.startswith(family.package)]
    return frozenset(
        word for model in own for name, info in model.model_fields.items() for word in (name, info.alias or name)
    )


def _collect(hint: object, seen: set[type[BaseModel]]) -> None:
    if isinstance(hint, type) and issubclass(hint, BaseModel) and hint not in seen:
        seen.add(hint)
        for info in hint.model_fields.values():
            _collect(info.annotation, seen)
    for inner in typing.get_args(hint):
        _collect(inner, seen)


@functools.cache
def _snake(word: str) -> str:
    return _BORDER.sub("_", word).lower()
