"""Published profiles of models on accelerators, for models without a benchmark of their own (WVA spec 12)."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ...contract.tables import load_table
from .cases import Profile


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """The source of reference profiles.

    Attributes:
        title: The publication.
        date: Its date, as ``YYYY-MM-DD``.
        measured: Whether the figures come from a benchmark; otherwise they are sample data.
        tokens: Request length in tokens that the batches are valid for; None if unspecified.
        doubt: Why the figures are uncertain.
    """

    title: str
    date: str
    measured: bool
    tokens: int | None
    doubt: str


@dataclass(frozen=True, slots=True)
class ReferenceProfile:
    """A published profile of a model on an accelerator, with its uncertainty.

    Attributes:
        model: Name of the model in the table.
        profile: The profile as published.
        low: The fastest profile that the sources allow: the lowest beta, with its batch.
        high: The slowest profile.
    """

    model: str
    profile: Profile
    low: Profile
    high: Profile
    source: ReferenceSource


def reference_profiles(model: str) -> tuple[ReferenceProfile, ...]:
    """Return the profiles of a model, by its served name or its name at the hub.

    Names are compared without organization, case, and words such as ``Instruct`` that do not affect speed; sizes,
    generations and quantizations must match.
    """
    return _profiles().get(_key(model), ())


def known_models() -> tuple[str, ...]:
    """Return the names of all models in the table."""
    return tuple(sorted(entry["name"] for entry in load_table(__package__, "reference.yaml")["models"]))


_SAME_SPEED = frozenset(("base", "bf16", "chat", "fp16", "hf", "instruct", "it", "meta"))
"""Words in model names that do not affect the number or precision of weights."""
_BREAK = re.compile(r"[-_ ]+|(?<=\d)\.(?=\d)(?!\d+b)|(?<=[a-z]{3})(?=\d)")
"""Word boundaries: ``llama3.1-8b`` has four words; a size such as ``1.5b`` is one."""


def _key(name: str) -> tuple[str, ...]:
    words = _BREAK.split(name.strip().rstrip("/").rpartition("/")[2].lower())
    return tuple(word for word in words if word not in _SAME_SPEED)


@functools.cache
def _profiles() -> Mapping[tuple[str, ...], tuple[ReferenceProfile, ...]]:
    facts = load_table(__package__, "reference.yaml")
    found = {}
    for model in facts["models"]:
        profiles = tuple(_read(model, row, facts["sources"]) for row in model["profiles"])
        names = (model["name"], *model.get("also", ()))
        found.update(dict.fromkeys(map(_key, names), profiles))
    return MappingProxyType(found)


def _read(model: Mapping[str, Any], row: Mapping[str, Any], sources: Mapping[str, Any]) -> ReferenceProfile:
    source = sources[row.get("source") or model["source"]]
    profile = Profile(row["accelerator"], row["count"], row["alpha"], row["beta"], row["batch"])
    beta = row.get("low_beta", round(profile.beta * source.get("beta", 1), 6))
    return ReferenceProfile(
        model=model["name"],
        profile=profile,
        low=replace(profile, beta=beta, batch=profile.batch * source.get("batch", 1)),
        high=replace(profile, beta=row.get("high_beta", profile.beta)),
        source=ReferenceSource(
            source["title"], source["date"], source["measured"], source.get("tokens"), source["doubt"]
        ),
    )
