"""What a family has once for all its resources: made after them, of them, and of no other family's."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import pytest

from components.contract.problems import Problem
from components.families.family import Family, SharedObjects
from components.fleet.library import Library
from components.fleet.options import Options
from components.fleet.rendered import Rendered
from components.fleet.words import Realization
from tests.families.program import registered
from tests.fleets import errors, fleet_of, open_model, playground
from tests.toy.family import FAMILY

CALLS: list[tuple[list[str], Realization]] = []


def pair(name: str, weights: str = "w") -> dict[str, object]:
    spec = {"weights": weights, "machine": "g5.xlarge"}
    return {"apiVersion": "toy.example/v1", "kind": "Pair", "metadata": {"name": name}, "spec": spec}


class Indexed(Family, SharedObjects):
    """The toy with a ConfigMap that has an entry for each pair; names of one letter are refused."""

    def family_objects(
        self, rendered: Sequence[Rendered], library: Library, options: Options
    ) -> tuple[list[Problem], tuple[Rendered, ...]]:
        CALLS.append(([item.name for item in rendered], options.realization))
        assert all(library.item(options.namespace, item.name) is item for item in rendered)
        data = {item.name: item.model for item in rendered}
        metadata = {"name": "pairs", "namespace": options.namespace}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        made = Rendered(replace(rendered[0].source), "ConfigMap", "pairs", options.namespace, others=(body,))
        return [item.source.problem("metadata.name", "is short") for item in rendered if len(item.name) == 1], (made,)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    values = {field.name: getattr(FAMILY, field.name) for field in fields(FAMILY)}
    family = Indexed(**{**values, "operator": "toy"})
    CALLS.clear()
    with registered(family):
        yield


def test_it_is_made_once_of_all() -> None:
    fleet = fleet_of(pair("beta"), pair("alpha", "v"), open_model(), playground("chat"))
    (made,) = [item for item in fleet.rendered if item.kind == "ConfigMap"]
    assert made.objects[0]["data"] == {"alpha": "v", "beta": "w"}
    assert made.title == "ConfigMap/pairs"
    assert CALLS == [(["alpha", "beta"], Realization.NATIVE)]


def test_without_a_resource_of_the_family_nothing_is_asked() -> None:
    fleet = fleet_of(open_model(), playground("chat"))
    assert not CALLS
    assert "ConfigMap" not in [item.kind for item in fleet.rendered]


def test_what_is_wrong_is_told_with_everything_else() -> None:
    fleet = fleet_of(pair("beta"), pair("a"))
    assert [(problem.name, problem.reason) for problem in errors(fleet)] == [("a", "is short")]


def test_the_order_of_manifests_means_nothing() -> None:
    one, other = fleet_of(pair("beta"), pair("alpha")), fleet_of(pair("alpha"), pair("beta"))
    assert [item.objects for item in one.rendered] == [item.objects for item in other.rendered]


def test_the_familys_own_realization_counts() -> None:
    fleet_of(pair("beta"), realizations={"toy": Realization.OPERATOR})
    assert CALLS[0][1] == Realization.OPERATOR
