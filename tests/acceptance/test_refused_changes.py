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


def test_without_a_preview_nothing_is_deployed(deployed: PulumiCli, project: Path, stand_in: StandIn) -> None:
    (project / "__main__.py").write_text("raise ValueError")
    with pytest.raises(WorkbenchError, match=r"could not be checked, so nothing was changed(.|\n)*ValueError"):
        deployed.up(yes=True)
    assert ups(stand_in) == 1
    write_version(project, "1.35")
    assert deployed.up(yes=True) == 0


def test_a_preview_without_steps_is_a_failure(
    deployed: PulumiCli, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "pulumi"
    lines = program.read_text().splitlines()
    lines.insert(1, "import sys\nif sys.argv[1] == 'preview': sys.exit(print('warning: a newer version'))")
    program.write_text("\n".join(lines))
    with pytest.raises(WorkbenchError, match="printed no steps"):
        deployed.up(yes=True)
    assert ups(stand_in) == 1


def test_another_resource_for_an_object(project: Path, stand_in: StandIn) -> None:
    """The CLI would delete the object, by its name, after it has applied it for the other resource."""
    cli = PulumiCli(project, "dev", project / ".workbench")
    assert cli.up(yes=True) == 0
    program = project / "__main__.py"
    program.write_text(program.read_text().replace('"cm", value', '"other", value'))
    former = "urn:pulumi:dev::small::kubernetes:core/v1:ConfigMap::cm"
    with pytest.raises(WorkbenchError, match=r"ConfigMap default/begun would be deleted although") as refused:
        cli.up(yes=True)
    assert f'aliases=["{former}"]' in str(refused.value)
    assert ups(stand_in) == 1


def test_contents_that_an_update_deletes_are_named(
    project: Path, stand_in: StandIn, capfd: pytest.CaptureFixture[str]
) -> None:
    program = project / "__main__.py"
    cache = 'pulumi.CustomResource("aws:efs/fileSystem:FileSystem", "cache", {})\n'
    program.write_text(PROGRAM + cache)
    cli = PulumiCli(project, "dev", project / ".workbench")
    assert cli.up(yes=True) == 0
    assert "deletes contents" not in capfd.readouterr().err
    program.write_text(PROGRAM)
    assert cli.up(yes=True) == 0
    told = capfd.readouterr().err
    assert "This update deletes contents:" in told
    assert "[change-deletes-contents]" in told
    assert ups(stand_in) == 2


def test_an_empty_stack_is_not_previewed(project: Path, stand_in: StandIn) -> None:
    (project / "__main__.py").write_text("import pulumi")
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
