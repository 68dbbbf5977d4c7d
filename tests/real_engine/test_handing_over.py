"""A stack of the local engine continues with the Pulumi CLI, and back: nothing is created again or restarted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.real_engine.support import RealStack, config_map, deployment, namespace
from toolkit.kube import Kube, KubeError
from workbench.cli import app
from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.handing_over import ToCli
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
    return kube.get("apps/v1", "Deployment", "model", SPACE), live_settings(kube)


def live_settings(kube: Kube) -> Json:
    return kube.get("v1", "ConfigMap", "settings", SPACE)


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


OWNED = """
aws = pulumi.ProviderResource("aws", "aws", {"region": "us-east-1"})
pulumi.CustomResource(
    "aws:eks/nodeGroup:NodeGroup",
    "gpu",
    {"clusterName": "prod", "nodeGroupName": "gpu"},
    pulumi.ResourceOptions(provider=aws, import_="prod:gpu", retain_on_delete=True),
)
"""
GROUP = {"prod:gpu": {"clusterName": "prod", "nodeGroupName": "gpu"}}


def test_owned_node_groups_are_imported(
    kube: Kube, stack: RealStack, aws: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account.json"
    monkeypatch.setenv("STAND_IN_ACCOUNT", str(account))
    program = stack.folder / "__main__.py"
    program.write_text(program.read_text() + OWNED)
    objects = OBJECTS[:2]
    local = up(stack, "local", objects)
    assert local.exit_code == 0, local.output

    # A group that is not there: refused by the CLI, and the stack stays with the local engine.
    account.write_text("{}")
    refused = up(stack, "pulumi", objects)
    assert "pulumi import" in str(refused.exception), (refused.exception, refused.output)
    assert "prod:gpu" in str(refused.exception)
    assert stack.resources() == []

    account.write_text(json.dumps(GROUP))
    ToCli(StackCall("dev", Deployer.PULUMI, str(stack.kubeconfig), stack.folder), stack.cli).prepare()
    (group,) = (each for each in stack.resources() if each["id"] == "prod:gpu")
    assert group["protect"] is True

    # Interrupted there, it continues: the group is in the state, and is not asked for again.
    there = up(stack, "pulumi", objects)
    assert there.exit_code == 0, (there.exception, there.output)
    (group,) = (each for each in stack.resources() if each["id"] == "prod:gpu")
    assert (group.get("protect"), group["retainOnDelete"]) == (None, True)
    assert live_settings(kube)["data"] == {"a": "1", "b": "2"}
    changed = up(stack, "pulumi", [objects[0], config_map("settings", SPACE, a="2")])
    assert changed.exit_code == 0, changed.output
    assert live_settings(kube)["data"] == {"a": "2"}
