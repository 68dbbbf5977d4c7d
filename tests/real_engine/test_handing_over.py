"""A stack of the local engine continues with the Pulumi CLI, and back: nothing is created again or restarted."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.real_engine.support import RealStack, config_map, deployment, namespace
from toolkit.kube import Kube, KubeError
from workbench.cli import app
from workbench.engine.apply.objects import MANAGER
from workbench.engine.pulumi_files import deployed_by_cli
from workbench.errors import WorkbenchError

SPACE = "handed"
OBJECTS = [namespace(SPACE), config_map("settings", SPACE, a="1", b="2"), deployment("model", SPACE, "none")]
Json = dict[str, Any]


@pytest.fixture
def stack(real: RealStack, kube: Kube) -> Iterator[RealStack]:
    yield real
    kube.delete("v1", "Namespace", SPACE)


def run(stack: RealStack, command: str, engine: str, *words: str) -> Result:
    place = ("--stack", "dev", "--cwd", str(stack.folder), "--kubeconfig", str(stack.kubeconfig))
    return CliRunner().invoke(app, [command, *place, "--engine", engine, "--yes", *words])


def up(stack: RealStack, engine: str, objects: list[Json]) -> Result:
    stack.write(objects, create="60s", update="60s")
    return run(stack, "up", engine, "--no-wait")


def live(kube: Kube) -> tuple[Json, Json]:
    return kube.get("apps/v1", "Deployment", "model", SPACE), kube.get("v1", "ConfigMap", "settings", SPACE)


def appliers(body: Json) -> set[str]:
    entries = body["metadata"]["managedFields"]
    return {entry["manager"][:17] for entry in entries if entry["operation"] == "Apply"}


def test_there_and_back(kube: Kube, stack: RealStack) -> None:
    objects = [
        {**body, "metadata": {**body["metadata"], "annotations": {"pulumi.com/skipAwait": "true"}}}
        for body in OBJECTS
    ]
    assert up(stack, "local", objects).exit_code == 0
    before, _ = live(kube)

    # Refused with the command, and nothing is changed: a pending change, and a command that would find nothing.
    refused = up(stack, "pulumi", [*objects[:1], objects[2]])
    assert isinstance(refused.exception, WorkbenchError)
    assert "1 change of the program is not applied; run `workbench up --stack dev --engine local`" in str(
        refused.exception
    )
    assert "--engine local" in str(run(stack, "destroy", "pulumi").exception)

    there = up(stack, "pulumi", objects)
    assert there.exit_code == 0, there.output
    model, settings = live(kube)
    assert (model["metadata"]["uid"], model["spec"]) == (before["metadata"]["uid"], before["spec"])
    assert appliers(model) == appliers(settings) == {"pulumi-kubernetes"}

    # Every change works from now on, and removes fields.
    objects[1]["data"] = {"a": "2"}
    done = up(stack, "pulumi", objects)
    assert done.exit_code == 0, done.output
    assert live(kube)[1]["data"] == {"a": "2"}
    assert "--engine pulumi" in str(run(stack, "destroy", "local").exception)

    # And back.
    refused = up(stack, "local", objects[:2])
    assert "no longer has" in str(refused.exception)
    back = up(stack, "local", objects)
    assert back.exit_code == 0, back.output
    model, settings = live(kube)
    assert (model["metadata"]["uid"], model["spec"]) == (before["metadata"]["uid"], before["spec"])
    assert appliers(model) == appliers(settings) == {MANAGER[:17]}
    assert not deployed_by_cli(stack.folder, "dev", stack.folder / ".workbench")
    objects[1]["data"] = {"b": "3"}
    assert up(stack, "local", objects).exit_code == 0
    assert live(kube)[1]["data"] == {"b": "3"}
    assert run(stack, "destroy", "local").exit_code == 0
    with pytest.raises(KubeError):
        live(kube)
