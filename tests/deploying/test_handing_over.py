"""Which engine has deployed a stack, and what the other one refuses to do with it."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.handing_over import ToLocal, is_local, refuse_other_engine
from workbench.engine.pulumi_cli import PulumiCli
from workbench.engine.pulumi_files import deployed_by_cli
from workbench.engine.state import State, StateRow
from workbench.errors import WorkbenchError

URN = "urn:pulumi:dev::fleet::kubernetes:core/v1:ConfigMap::a"
OBJECT = {"urn": URN, "type": "kubernetes:core/v1:ConfigMap"}


def checkpoint(*resources: Any) -> str:
    return json.dumps({"version": 3, "checkpoint": {"stack": "dev", "latest": {"resources": list(resources)}}})


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StackCall:
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    return StackCall("dev", Deployer.LOCAL, "", tmp_path)


def write_state(call: StackCall, text: str) -> None:
    folder = call.state_dir / "pulumi/.pulumi/stacks/fleet"
    folder.mkdir(parents=True)
    (folder / "dev.json").write_text(text)


@pytest.mark.parametrize(
    ("text", "deployed"),
    [
        (checkpoint(OBJECT), True),
        (checkpoint({"type": "pulumi:pulumi:Stack"}, OBJECT), True),
        (checkpoint({"type": "pulumi:pulumi:Stack"}), False),
        (checkpoint({"type": "pulumi:providers:kubernetes"}), False),
        (checkpoint(), False),
        (checkpoint({"urn": "a"}), False),
        (json.dumps({"checkpoint": {"latest": None}}), False),
        ("[]", False),
        ("", False),
        ("[" * 100_000, False),
    ],
)
def test_the_state_of_the_file_backend_tells_what_the_cli_deployed(
    call: StackCall, monkeypatch: pytest.MonkeyPatch, text: str, deployed: bool
) -> None:
    assert not deployed_by_cli(call.cwd, "dev", call.state_dir)
    write_state(call, text)
    assert deployed_by_cli(call.cwd, "dev", call.state_dir) is deployed
    # Another stack, and a backend of the user's own.
    assert not deployed_by_cli(call.cwd, "prod", call.state_dir)
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    assert not deployed_by_cli(call.cwd, "dev", call.state_dir)


def test_each_engine_refuses_to_destroy_what_the_other_one_deployed(call: StackCall) -> None:
    cli = PulumiCli(call.cwd, "dev", call.state_dir)
    refuse_other_engine(call, cli, "destroy")
    refuse_other_engine(call, None, "destroy")
    assert not is_local(call)

    write_state(call, checkpoint(OBJECT))
    refuse_other_engine(call, cli, "destroy")
    with pytest.raises(WorkbenchError, match=r"was deployed by the Pulumi CLI.* --engine pulumi`"):
        refuse_other_engine(call, None, "destroy")

    with State(call.state_dir / "stacks", "dev") as state:
        state.write([StateRow(URN, "kubernetes:core/v1:ConfigMap")])
    assert is_local(call)
    refuse_other_engine(call, None, "destroy")
    with pytest.raises(WorkbenchError, match=r"was deployed by the local engine.* --engine local`"):
        refuse_other_engine(call, cli, "destroy")


def test_a_stack_of_the_cli_waits_for_the_cli(call: StackCall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.deploying.handing_over.installed", lambda: None)
    monkeypatch.setattr("workbench.deploying.handing_over.built", lambda: None)
    assert ToLocal.of(call) is None
    write_state(call, checkpoint(OBJECT))
    with pytest.raises(WorkbenchError, match="which is not on the PATH; install it"):
        ToLocal.of(call)
