"""Bounds of replicas, as backends and the targets of bindings have them (Kthena spec 1.4, V2)."""

from collections.abc import Iterator

from ....contract.base import Json, Rule, Violation

MOST_REPLICAS = 1_000_000


def _bounds_broken(bounded: Json) -> Iterator[Violation]:
    if bounded.min_replicas > bounded.max_replicas:
        yield ("minReplicas",), f", found {bounded.min_replicas} and {bounded.max_replicas}"


BOUNDS = Rule("minReplicas must not be above maxReplicas", _bounds_broken, "self.minReplicas <= self.maxReplicas")
