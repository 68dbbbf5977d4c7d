"""Words that belong to a family: its API groups, its kinds, and those of its fields that no one else would write.

A field is a family's own if it is a compound, such as ``modelClaim``: the common English words of a manifest
(``first``, ``weights``, ``gpus``) occur in every program and say nothing about where they come from. A compound that
the waist itself declares, such as ``instance_type``, belongs to the waist.
"""

import ast
import functools
import re
import typing
from collections.abc import Iterator

from pydantic import BaseModel

from components.contract.schema.embedded import definitions
from components.engines.settings import Setting
from components.families import FAMILIES
from components.families.family import Family
from tests.layers.modules import Module, project

WAIST = "leaderworkerset"
"""LeaderWorkerSet is a workload kind of the waist, like Deployment: every room may name it."""
LIST = "components/families/__init__.py"
"""Lists the API groups of each family, so that a family is imported when one of its objects is read."""
CLAIMED = {"llmaz": ("INSTANCE-TYPE",), "llmd": ("acc",)}
"""Fields that a family has to itself although they are no compounds of its types: keys of maps, single words."""
CLAIMED_KINDS = ("Playground",)
"""Kinds of one word that nothing outside their family is named after."""
ORDINARY = {
    "kinds of core Kubernetes and of this project as well": "Service Model",
    "fields of Kubernetes' own objects": (
        "availableReplicas currentReplicas desiredReplicas parentRefs parent_refs resourceVersion resource_version "
        "scaleTargetRef scale_target_ref targetRef"
    ),
    "what a fleet is made of, here and in every family": "modelCache model_cache pod_annotations pod_labels",
    "parts of requests, gateways and clouds": "jwks_uri max_tokens rateLimit rate_limit target_value",
    "fields of Volcano's PodGroup": "highestTierAllowed highest_tier_allowed networkTopology network_topology",
    "a title for readers, of a guardrail here": "display_name",
    "a value of the chart of the Cluster Autoscaler": "extraArgs",
    "metadata of Envoy AI Gateway": "backend_name",
    "fields of OpenAI's list of models": "max_model_len owned_by",
    "fields of what engines answer": "context_length created_at max_input_length max_total_tokens",
    "a key in the header of GGUF files": "head_count",
    "a metric of the Workload Variant Autoscaler": "desired_replicas",
    "what engines can be told": " ".join(Setting),
}
"""Words that a family has in common with others, by what they are there."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def distinctive_fields(family: Family) -> frozenset[str]:
    """Return the fields that are a family's own, as they are written in manifests and in Python."""
    declared = declared_words(family.name)
    own = {word for word in compounds(family) if not {word, snake(word)} & declared}
    return frozenset({*own, *CLAIMED.get(family.name, ())})


def compounds(family: Family) -> frozenset[str]:
    """Return the compound fields of a family that neither Kubernetes nor another family has, nor ``ORDINARY``."""
    shared = {word for other in FAMILIES if other is not family for word in _fields(other)}
    core = {field for found in definitions().values() for field in found.get("properties", ())}
    others = {*core, *map(snake, core), *shared, *ordinary_words()}
    return frozenset(word for word in _fields(family) if _is_compound(word) and word not in others)


@functools.cache
def declared_words(name: str) -> frozenset[str]:
    """Return the words that are declared outside the folder of a family: the vocabulary of the others.

    These are names of functions, their parameters, fields of classes, and keys of dictionaries.
    """
    folders = (f"components/families/{name}/", f"components/resources/{name}/")
    return frozenset().union(*(words for path, words in _declarations().items() if not path.startswith(folders)))


@functools.cache
def _declarations() -> dict[str, frozenset[str]]:
    """Return what each module declares, by its path."""
    return {each.path: frozenset(word for node in each.nodes for word in _declared(node)) for each in project()}


def _declared(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef():
            fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
            yield from (field.id for field in fields if isinstance(field, ast.Name))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Dict():
            yield from (
                key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )


def distinctive_kinds(family: Family) -> frozenset[str]:
    """Return the kinds that are a family's own, as they are written in manifests."""
    return frozenset(member.kind.kind for member in family.members if member.kind.kind not in ordinary_words())


def groups(family: Family) -> frozenset[str]:
    """Return the API groups of a family."""
    return frozenset(member.kind.group for member in family.members)


def ordinary_words() -> frozenset[str]:
    """Return the words of ``ORDINARY``."""
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
    known = () if module.path == LIST else groups(family)
    kinds, fields = _kind_patterns(family), _own_fields(family.name, _registered())
    for word in module.words:
        tokens = _TOKEN.findall(word.text)
        if any(group in word.text for group in known) or (word.quoted and kinds.quoted.search(word.text)):
            yield word.line, word.text
        else:
            found = (token for token in tokens if token in fields or kinds.part.search(snake(token)))
            yield from ((word.line, token) for token in found)


def _registered() -> tuple[str, ...]:
    return tuple(family.name for family in FAMILIES)


@functools.cache
def _own_fields(name: str, _registered: tuple[str, ...]) -> frozenset[str]:
    """Return the fields of a family; those of the other families that are registered decide which are its own."""
    return distinctive_fields(next(family for family in FAMILIES if family.name == name))


class _KindPatterns(typing.NamedTuple):
    part: re.Pattern[str]
    """Finds a kind as a part of a name in snake case, such as that of a class or function."""
    quoted: re.Pattern[str]
    """Finds a kind where a string can only mean the kind: alone, or before a slash and a name."""


def _kind_patterns(family: Family) -> _KindPatterns:
    """Return what finds the kinds of a family.

    A kind of one word, such as Pair, is found only as ``'Pair'`` and ``'Pair/name'``: in sentences and in names of
    classes it is an English word. ``CLAIMED_KINDS`` lists those that are found everywhere.
    """
    kinds = distinctive_kinds(family)
    parts = sorted(snake(kind) for kind in kinds if _is_compound(kind) or kind in CLAIMED_KINDS)
    single = sorted(kind for kind in kinds if not _is_compound(kind))
    # (?!) matches nothing: a family may have no kind of one of the two sorts.
    return _KindPatterns(
        re.compile(rf"(?:^|[_-])(?:{'|'.join(parts) or '(?!)'})s?(?:[_-]|$)"),
        re.compile(rf"^(?:{'|'.join(single) or '(?!)'})$|\b(?:{'|'.join(single) or '(?!)'})/"),
    )


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


def _is_compound(word: str) -> bool:
    """Tell whether a word is put together of several: ``modelClaim``, ``model_claim``, ``ModelClaim``."""
    return "_" in snake(word).strip("_")


@functools.cache
def snake(word: str) -> str:
    """Return a word of a manifest as Python has it."""
    return _BORDER.sub("_", word).lower()
