"""With the Pulumi CLI, ``up`` and ``preview`` reject what a cloud refuses half-way; ``destroy`` names what stays."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import StandIn
from workbench.engine.pulumi_cli import PulumiCli
from workbench.errors import WorkbenchError

PROGRAM = """
import pulumi

pulumi.CustomResource("aws:eks/cluster:Cluster", "cluster", {"name": "a", "version": "1.34"})
"""


@pytest.fixture
def deployed(project: Path, stand_in: StandIn) -> PulumiCli:
    (project / "__main__.py").write_text(PROGRAM)
    cli = PulumiCli(project, "dev", project / ".workbench")
    assert cli.up(yes=True) == 0
    return cli


def write_version(project: Path, version: str) -> None:
    (project / "__main__.py").write_text(PROGRAM.replace("1.34", version))


def ups(stand_in: StandIn) -> int:
    return sum(command.startswith("up ") for command in stand_in.commands)


def test_a_change_that_a_cloud_refuses(deployed: PulumiCli, project: Path, stand_in: StandIn) -> None:
    write_version(project, "1.36")
    with pytest.raises(WorkbenchError, match=r"Pulumi.dev.yaml: cluster.version: found 1.36 after 1.34"):
        deployed.up(yes=True)
    assert ups(stand_in) == 1
    with pytest.raises(WorkbenchError, match="change-refused"):
        deployed.preview()


def test_a_change_that_it_accepts(deployed: PulumiCli, project: Path, stand_in: StandIn) -> None:
    write_version(project, "1.35")
    assert deployed.preview() == 0
    assert deployed.up(yes=True) == 0
    assert ups(stand_in) == 2


def test_a_rule_that_the_settings_ignore(deployed: PulumiCli, project: Path) -> None:
    write_version(project, "1.36")
    with (project / "Pulumi.dev.yaml").open("a") as settings:
        settings.write("  small:ignore: {change-refused: not deployed}\n")
    assert deployed.up(yes=True) == 0


def test_a_preview_that_fails_tells_why_itself(deployed: PulumiCli, project: Path, stand_in: StandIn) -> None:
    (project / "__main__.py").write_text("raise ValueError")
    assert deployed.up(yes=True) != 0
    assert ups(stand_in) == 2


def test_without_resources_of_a_cloud_nothing_is_previewed(project: Path, stand_in: StandIn) -> None:
    cli = PulumiCli(project, "dev", project / ".workbench")
    cli.up(yes=True)
    cli.up(yes=True)
    assert not any(command.startswith("preview") for command in stand_in.commands)


def test_a_destroy_names_what_stays(
    project: Path, stand_in: StandIn, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = PulumiCli(project, "dev", project / ".workbench")
    cli.up(yes=True)
    key = {"urn": "urn:pulumi:dev::x::aws:kms/key:Key::secrets", "type": "aws:kms/key:Key", "id": "1234"}
    resources = [{**key, "custom": True, "retainOnDelete": True}, {**key, "custom": True}]
    monkeypatch.setattr(PulumiCli, "export", lambda _: {"deployment": {"resources": resources[:1]}})
    cli.destroy(yes=True)
    said = capfd.readouterr().err
    assert "secrets: costs $1 a month" in said
    assert "schedule-key-deletion --pending-window-in-days 30 --key-id 1234" in said
    monkeypatch.setattr(PulumiCli, "export", lambda _: {"deployment": {"resources": resources[1:]}})
    cli.destroy(yes=True)
    assert "costs $1 a month" not in capfd.readouterr().err
