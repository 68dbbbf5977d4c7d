"""What is known of each inference engine."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..api.tables import table


@dataclass(frozen=True, slots=True)
class Engine:
    """An inference engine.

    Attributes:
        tensor_flag: Flag for tensor parallelism; None where the engine has none.
        pipeline_flag: Flag for pipeline parallelism; None where the engine has none.
        aliases: Other spellings of both flags.
        pipeline_from: First version with that flag; None where every one has it.
        multi_node: How a group of pods is joined: ``ray``, ``sglang`` or None.
        own_multi_node_from: First version of vLLM that joins pods without Ray.
        speculative_config_from: First version with one JSON option for speculative decoding.
        current: Image and tag of the ``current`` edition.
    """

    name: str
    images: tuple[str, ...]
    current: tuple[str, str]
    tensor_flag: str | None = None
    pipeline_flag: str | None = None
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    multi_node: str | None = None
    pipeline_from: tuple[int, ...] | None = None
    own_multi_node_from: tuple[int, ...] | None = None
    speculative_config_from: tuple[int, ...] | None = None


def engine_of(image: str) -> Engine | None:
    """Return the engine that an image holds, by its repository; None for an unknown one."""
    return next((e for e in engines().values() if any(f"/{image}".endswith(f"/{known}") for known in e.images)), None)


@functools.cache
def engines() -> Mapping[str, Engine]:
    """Return every known engine by name."""
    return MappingProxyType(
        {name: _engine(name, facts) for name, facts in table(__package__, "engines.yaml").items()}
    )


def version_of(tag: str) -> tuple[int, ...] | None:
    """Return the numbers of an image tag such as ``v0.8.3`` or ``0.8.3-cu121``; None for a tag without."""
    match = re.match(r"v?(\d+(?:\.\d+)+)", tag)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def reaches(tag: str, since: tuple[int, ...] | None) -> bool:
    """Tell whether a tag has what came with a version; a tag without numbers, such as ``nightly``, is new."""
    return since is not None and (version_of(tag) or since) >= since


def _engine(name: str, facts: dict[str, Any]) -> Engine:
    parallel = facts.get("parallel", {})
    return Engine(
        name=name,
        images=tuple(facts["images"]),
        current=(facts["current"]["image"], str(facts["current"]["version"])),
        tensor_flag=parallel.get("tensor"),
        pipeline_flag=parallel.get("pipeline"),
        aliases={key: tuple(flags) for key, flags in facts.get("aliases", {}).items()},
        multi_node=facts.get("multiNode"),
        pipeline_from=_since(facts, "pipelineFrom"),
        own_multi_node_from=_since(facts, "ownMultiNodeFrom"),
        speculative_config_from=_since(facts, "speculativeConfigFrom"),
    )


def _since(facts: dict[str, Any], key: str) -> tuple[int, ...] | None:
    return tuple(facts[key]) if key in facts else None
