"""Pods that somebody wrote in full: containers that cannot start are refused by their field, in every kind."""

from collections.abc import Callable
from typing import Any

import pytest

from components.contract.problems import errors
from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.explain import explain
from components.plan.plan import plan
from components.plan.rendering import render_fleet
from tests.families.kthena.serving.support import model_serving, role
from tests.families.leaderworkerset.sets import group
from tests.fleets import open_model, runner, service

Object = dict[str, Any]


def of_group(spec: Object) -> list[Object]:
    return [group(workerTemplate={"spec": spec})]


def of_service(spec: Object) -> list[Object]:
    return [open_model(), service(workloadTemplate={"workerTemplate": {"spec": spec}})]


def of_model_serving(spec: Object) -> list[Object]:
    return [model_serving("ms", role("server", entryTemplate={"spec": spec}))]


KINDS = {
    "LeaderWorkerSet": (of_group, "spec.leaderWorkerTemplate.workerTemplate"),
    "Service": (of_service, "spec.workloadTemplate.workerTemplate"),
    "ModelServing": (of_model_serving, "spec.template.roles[0].entryTemplate"),
}
PLACES = [pytest.param(*value, id=key) for key, value in KINDS.items()]
Documents = Callable[[Object], list[Object]]


def found(documents: list[Object], realization: Realization) -> dict[str, str]:
    fleet = render_fleet(objects(documents).resources, Options(realization=realization))
    return {problem.path: problem.reason for problem in errors(fleet.problems)}


@pytest.mark.parametrize("realization", Realization)
@pytest.mark.parametrize(("documents", "template"), PLACES)
def test_a_container_without_an_image_is_refused(
    documents: Documents, template: str, realization: Realization
) -> None:
    spec = {
        "initContainers": [{"name": "first", "image": "a/b:v1"}, {"name": "next"}],
        "containers": [{"name": "model-runner"}],
    }
    problems = found(documents(spec), realization)
    places = {f"{template}.spec.containers[0].image", f"{template}.spec.initContainers[1].image"}
    assert places <= problems.keys()
    assert all("is required" in problems[place] for place in places)


@pytest.mark.parametrize("realization", Realization)
@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"command": ["sh", "-c"]}, "command"),
        ({"command": ["/bin/bash", "-euo", "-c"]}, "command"),
        ({"command": ["bash"], "args": ["-lc"]}, "command"),
        ({"args": ["sh", "-c"]}, "args"),
    ],
)
@pytest.mark.parametrize(("documents", "template"), PLACES)
def test_a_shell_without_its_script_is_refused(
    documents: Documents, template: str, words: Object, field: str, realization: Realization
) -> None:
    problems = found(documents({"containers": [runner(**words)]}), realization)
    assert "without the script" in problems[f"{template}.spec.containers[0].{field}"]


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"command": ["sh"]},
        {"command": ["sh", "start.sh"]},
        {"command": ["sh", "-c"], "args": [""]},
        {"command": ["sh", "-c", "exec engine"]},
        {"command": ["engine", "sh", "-c"]},
        {"args": ["-c"]},
    ],
)
@pytest.mark.parametrize(("documents", "template"), PLACES)
def test_what_has_its_script_or_none_is_left_alone(documents: Documents, template: str, words: Object) -> None:
    problems = found(documents({"containers": [runner(**words)]}), Realization.NATIVE)
    assert not [path for path in problems if path.startswith(f"{template}.spec.containers")]


@pytest.mark.parametrize("words", [{"command": ["sh", "-c"], "args": ["vllm serve m"]}, {"args": ["sh", "-c", "x"]}])
@pytest.mark.parametrize(("documents", "template"), PLACES)
def test_every_part_of_a_script_is_explained(documents: Documents, template: str, words: Object) -> None:
    manifests = objects(documents({"containers": [runner(**words)]}))
    planned = plan(manifests)
    assert not errors(planned.problems)
    subject = manifests.resources[-1]
    rows = {row.path for row in explain(subject, manifests.resources, planned)}
    expected = {
        f"{template}.spec.containers[0].{field}[{n}]" for field, given in words.items() for n in range(len(given))
    }
    assert expected <= rows


FRACTIONS = [("0.5", False), ("500m", False), ("1500m", False), ("0.0001", False), ("2.5", False), ("0.9999", True),
             ("1", True), ("2.0", True), ("1000m", True), ("0", True), ("1e0", True)]  # fmt: skip
"""What ``validateResourceQuantityValue`` accepts: thousandths, rounded up, that are divisible by 1000."""


@pytest.mark.parametrize("realization", Realization)
@pytest.mark.parametrize("part", ["limits", "requests"])
@pytest.mark.parametrize(("amount", "accepted"), FRACTIONS)
@pytest.mark.parametrize(("documents", "template"), PLACES)
def test_devices_are_whole_numbers(
    documents: Documents, template: str, amount: str, accepted: bool, part: str, realization: Realization
) -> None:
    spec = {"containers": [runner(resources={part: {"nvidia.com/gpu": amount, "cpu": "0.5"}})]}
    problems = found(documents(spec), realization)
    path = f"{template}.spec.containers[0].resources.{part}[nvidia.com/gpu]"
    assert ("must be a whole number" in problems.get(path, "")) is not accepted


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("nvidia.com/gpu", True),
        ("amd.com/gpu", True),
        ("example.com/anything", True),
        ("cpu", False),
        ("memory", False),
        ("ephemeral-storage", False),
        ("kubernetes.io/batch-cpu", False),
    ],
)
def test_only_extended_resources_are_counted(name: str, refused: bool) -> None:
    problems = found(of_group({"containers": [runner(resources={"limits": {name: "1500m"}})]}), Realization.NATIVE)
    assert any("must be a whole number" in reason for reason in problems.values()) is refused


def test_flavors_have_whole_devices() -> None:
    model = open_model(flavors=[{"name": "a", "limits": {"nvidia.com/gpu": "0.5"}}])
    assert (
        "must be a whole number"
        in found([model], Realization.NATIVE)["spec.inferenceConfig.flavors[0].limits[nvidia.com/gpu]"]
    )
