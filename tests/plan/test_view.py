"""What many equal objects of one resource become, in few lines."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from components.contract.load import Manifests
from components.fleet.rendered import Fleet
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.view import lines, view
from components.resources.serving.fleet.outputs import models_of
from tests.checks.front_door.routed import backend, endpoints
from tests.fleet.sets import bare, behind_router, parts, roles
from tests.fleets import fleet_of, open_model, playground


def view_of(names: str, **fields: str) -> dict[str, str]:
    return {f"Job/{name}: {field}": value for name in names.split() for field, value in fields.items()}


@pytest.mark.parametrize(
    ("places", "elsewhere", "written"),
    [
        ({"Job/a: spec.x": "1"}, {"Job/a: spec.y": "1"}, ["Job/a: spec.x = 1"]),
        ({"Job/a: pod args --tp": "1"}, {"Job/a: kind": "Job"}, ["Job/a: pod args --tp 1"]),
        (view_of("a b", x="1"), view_of("a b", kind="Job"), ["Job/a, b: x = 1"]),
        (view_of("a b c d", x="1"), view_of("a b c d", kind="Job"), ["Job/a, b and 2 more: x = 1"]),
        # Only what is equal is one line.
        (
            {**view_of("a b c", x="1"), "Job/c: x": "2"},
            view_of("a b c", kind="Job"),
            ["Job/a, b: x = 1", "Job/c: x = 2"],
        ),
        # An object of its own is shown; of several that are added together the names.
        (view_of("a", x="1", y="2"), {}, ["Job/a: x = 1", "Job/a: y = 2"]),
        (view_of("a b c", x="1", y="2"), {}, ["Job/a, b and 1 more"]),
        (view_of("b c", x="1") | view_of("a", z="3"), view_of("a", x="1"), ["Job/b, c", "Job/a: z = 3"]),
        (
            {"Job/a: x": "1", "Cron/b: x": "1"},
            {},
            ["Job/a", "Cron/b"],
        ),
        ({"endpoint of a: url": "http://a/b"}, {}, ["endpoint of a: url = http://a/b"]),
        ({"needs of a: x": ""}, {}, ["needs of a: x"]),
        ({}, {}, []),
    ],
)
def test_what_several_objects_have_alike_is_one_line(
    places: Mapping[str, str], elsewhere: Mapping[str, str], written: list[str]
) -> None:
    assert lines(places, elsewhere) == written


@pytest.mark.parametrize(("fleet", "pods"), [(parts(12), "12"), (parts(1), "1"), (bare(), "1")])
def test_the_nodes_of_a_set_are_asked_for_together(fleet: Fleet, pods: str) -> None:
    found = {place: value for place, value in view(fleet).items() if place.startswith("nodes for ")}
    assert found["nodes for p-lead: pods"] == pods
    assert {place.partition(": ")[0] for place in found} == {"nodes for p-lead"}


def test_the_roles_of_a_resource_ask_for_nodes_of_their_own() -> None:
    found = {place.partition(": ")[0] for place in view(roles()) if place.startswith("nodes for ")}
    assert found == {"nodes for p-lead", "nodes for p-help"}


def test_leaders_and_workers_ask_for_nodes_of_their_own() -> None:
    two = [{"name": "two", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}]
    listed = view(fleet_of(open_model(flavors=two), playground()))
    assert {place.partition(": ")[0] for place in listed if place.startswith("nodes for ")} == {
        "nodes for p",
        "nodes for p (workers)",
    }


def test_what_the_gateway_does_for_an_endpoint_is_listed() -> None:
    of = endpoints({"on": {"x-tier": ("exact", "gold")}, "backends": (backend("a", 1, 70, served_name="other"),)})
    listed = {place: value for place, value in view(of).items() if place.startswith("endpoint of ")}
    assert listed == {
        "endpoint of m: url": "http://m-lb.models.svc.cluster.local:8080/v1",
        "endpoint of m: model": "m",
        "endpoint of m: header x-tier (exact)": "gold",
        "endpoint of m: weight of a": "70",
        "endpoint of m: name of the model at a": "other",
    }


def planned(fleet: Fleet) -> Plan:
    return replace(plan(Manifests(), Environment()), fleet=fleet)


def test_outputs_know_a_set_by_its_name_and_its_parts() -> None:
    model = models_of(planned(parts(3)))["p"]
    assert model["workload"] == "p-lead"
    assert model["workloadKind"] == "LeaderWorkerSet"
    assert model["replicas"] == 3
    assert model["parts"] == ["p-0-lead-0", "p-1-lead-0", "p-2-lead-0"]
    assert "workloads" not in model


def test_outputs_name_the_objects_of_all_roles() -> None:
    """Each role is a set of pods, whose name no object has where the role's replicas are objects of their own."""
    model = models_of(planned(parts(1)))["p"]
    assert (model["workload"], model["parts"]) == ("p-lead", ["p-0-lead-0"])
    model = models_of(planned(roles()))["p"]
    assert model["workloads"] == ["p-lead", "p-help"]
    assert model["parts"] == [each.name for _, each in roles().workloads]


def test_outputs_of_bare_pods_name_no_object_that_is_not_there() -> None:
    model = models_of(planned(bare()))["p"]
    assert (model["workload"], model["workloadKind"]) == ("p-lead", "Pod")
    assert "parts" not in model


@pytest.mark.parametrize("routed", [False, True])
def test_outputs_of_a_resource_that_only_routes_show_what_serves(routed: bool) -> None:
    fleet = behind_router(parts(3)) if routed else parts(3)
    (item,) = fleet.rendered
    route = replace(item, name="route", workloads=())
    model = models_of(planned(Fleet((replace(item, endpoints=()), route), ())))
    assert list(model) == ["route"]
    assert (model["route"]["workload"], model["route"]["replicas"]) == ("p-lead", 3)
