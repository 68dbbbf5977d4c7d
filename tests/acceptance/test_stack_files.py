"""What the CLI is given and what it writes: never a tracked file, always what is in the folder of the workbench."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.conftest import StandIn
from workbench.engine.passphrase import opens
from workbench.engine.pulumi_cli import PulumiCli
from workbench.errors import WorkbenchError

SALT = "encryptionsalt"


def cli(project: Path, **rest: Any) -> PulumiCli:
    kubeconfig = project.parent / "kubeconfig"
    kubeconfig.write_text("{}")
    return PulumiCli(project, "dev", project / ".workbench", str(kubeconfig), **rest)


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a project but those of the workbench."""
    files = [path for path in folder.rglob("*") if path.is_file() and ".workbench" not in path.parts]
    return {str(path): path.read_bytes() for path in files if "__pycache__" not in path.parts}


def copy_of(project: Path) -> Any:
    return yaml.safe_load((project / ".workbench/pulumi/settings/Pulumi.dev.yaml").read_text())


def test_no_file_of_the_project_changes(project: Path, stand_in: StandIn) -> None:
    before = content(project)
    dev = cli(project)
    assert [dev.up(yes=True), dev.preview(), dev.up(yes=True)] == [0, 0, 0]
    assert dev.outputs() == {"size": 3, "token": "[secret]"}
    assert dev.destroy(yes=True) == 0
    assert content(project) == before


def test_the_cli_gets_the_settings_the_backend_and_the_passphrase(project: Path, stand_in: StandIn) -> None:
    cli(project).up(yes=True)
    home = project / ".workbench" / "pulumi"
    settings = home / "settings" / "Pulumi.dev.yaml"
    assert stand_in.commands == [
        "stack select dev --create --non-interactive",
        "stack export --stack dev",
        f"up --yes --skip-preview --suppress-outputs --config-file {settings} --stack dev",
        "stack export --stack dev",
    ]
    select, _, up, _ = stand_in.calls
    assert (select["cwd"], up["cwd"]) == (str(settings.parent), str(project))
    for call in (select, up):
        assert call["env"] == {
            "PULUMI_BACKEND_URL": home.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(home / "passphrase"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_OPTION_SKIP_PLUGIN_PRE_INSTALL": "true",
        }
    assert (home / "passphrase").stat().st_mode & 0o777 == 0o600
    assert (project / ".workbench").stat().st_mode & 0o777 == 0o700
    given = copy_of(project)["config"]
    assert given["small:size"] == 3
    assert given["small:kubeconfig"] == str(project.parent / "kubeconfig")


def test_settings_are_read_anew_and_the_key_is_kept(project: Path, stand_in: StandIn) -> None:
    dev = cli(project)
    dev.up(yes=True)
    salt = copy_of(project)[SALT]
    (project / "Pulumi.dev.yaml").write_text("config:\n  small:size: 4\n")
    assert dev.up(yes=True) == 0
    assert dev.outputs()["size"] == 4
    assert copy_of(project)[SALT] == salt
    assert opens(salt, (project / ".workbench/pulumi/passphrase").read_text())


def test_a_secrets_provider_of_the_users_own_keeps_its_key(project: Path, stand_in: StandIn) -> None:
    """The CLI writes the key beside the provider; a provider that is another one has another key."""
    settings = project / "Pulumi.dev.yaml"
    settings.write_text("secretsprovider: awskms://alias/a\nconfig: {}\n")
    dev = cli(project)
    dev.preview()
    written = project / ".workbench/pulumi/settings/Pulumi.dev.yaml"
    written.write_text(f"{written.read_text()}encryptedkey: sealed\n")
    dev.preview()
    assert copy_of(project)["encryptedkey"] == "sealed"
    settings.write_text("secretsprovider: awskms://alias/b\nconfig: {}\n")
    dev.preview()
    assert "encryptedkey" not in copy_of(project)
    assert copy_of(project)["secretsprovider"] == "awskms://alias/b"


@pytest.mark.parametrize("gone", [".", "pulumi/settings"])
def test_what_the_workbench_made_may_be_deleted(gone: str, project: Path, stand_in: StandIn) -> None:
    dev = cli(project)
    dev.up(yes=True)
    shutil.rmtree(project / ".workbench" / gone)
    assert dev.up(yes=True) == 0


def test_a_key_that_an_earlier_version_left_in_the_settings_does_no_harm(project: Path, stand_in: StandIn) -> None:
    """It wrote there; the passphrase went with the folder."""
    dev = cli(project)
    dev.up(yes=True)
    settings = project / "Pulumi.dev.yaml"
    settings.write_text(yaml.safe_dump({SALT: copy_of(project)[SALT], "config": {"small:size": 3}}))
    before = settings.read_bytes()
    assert dev.up(yes=True) == 0  # the folder is still there
    shutil.rmtree(project / ".workbench")
    assert dev.up(yes=True) == 0
    assert settings.read_bytes() == before


def encrypted(project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> str:
    """Settings with a secret, encrypted with a passphrase of the user's own. Return the key."""
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "of my own")
    cli(project).up(yes=True)
    salt: str = copy_of(project)[SALT]
    secret = {"small:password": {"secure": salt.split(":", 2)[2]}}
    (project / "Pulumi.dev.yaml").write_text(yaml.safe_dump({SALT: salt, "config": secret}))
    return salt


def test_a_passphrase_of_the_users_own_is_used(
    project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    salt = encrypted(project, stand_in, monkeypatch)
    shutil.rmtree(project / ".workbench")
    assert cli(project).up(yes=True) == 0
    assert copy_of(project)[SALT] == salt
    assert not (project / ".workbench/pulumi/passphrase").exists()


def test_secrets_without_their_passphrase_are_a_message(
    project: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypted(project, stand_in, monkeypatch)
    monkeypatch.delenv("PULUMI_CONFIG_PASSPHRASE")
    shutil.rmtree(project / ".workbench")
    asked = len(stand_in.calls)
    with pytest.raises(WorkbenchError, match=r"Pulumi\.dev\.yaml: encryptionsalt: .* set PULUMI_CONFIG_PASSPHRASE"):
        cli(project).up(yes=True)
    assert len(stand_in.calls) == asked


def test_a_lost_passphrase_is_a_message(project: Path, stand_in: StandIn) -> None:
    dev = cli(project)
    dev.up(yes=True)
    passphrase = project / ".workbench/pulumi/passphrase"
    passphrase.unlink()
    with pytest.raises(WorkbenchError, match=r"passphrase is missing, and the state in .* is encrypted with it"):
        dev.up(yes=True)
    assert not passphrase.exists()


def test_a_backend_of_the_users_own_is_used(
    project: Path, stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("PULUMI_BACKEND_URL", (tmp_path / "elsewhere").as_uri())
    assert cli(project).up(yes=True) == 0
    assert (tmp_path / "elsewhere/.pulumi/stacks/small/dev.json").exists()
    assert not (project / ".workbench/pulumi/.pulumi").exists()


def test_a_stack_without_settings_is_not_made(project: Path, stand_in: StandIn) -> None:
    with pytest.raises(WorkbenchError, match=r"stack 'prdo' has no Pulumi\.prdo\.yaml; stacks with settings: dev"):
        PulumiCli(project, "prdo", project / ".workbench").up(yes=True)
    assert stand_in.calls == []


@pytest.mark.parametrize("command", ["up", "destroy"])
def test_nothing_is_changed_without_being_asked(command: str, project: Path, stand_in: StandIn) -> None:
    """Without a preview the CLI does not ask: so there is one, unless the answer is given."""
    assert getattr(cli(project), command)(yes=False) != 0  # there is no terminal to ask on
    (told,) = [words for words in stand_in.commands if words.startswith(command)]
    assert "--skip-preview" not in told
    assert "--yes" not in told


def test_attributes_that_a_kill_cut_off_are_deleted(project: Path, stand_in: StandIn) -> None:
    """The real CLI cannot read a state beside an empty file of attributes (tests/real_engine/test_killed.py)."""
    dev = cli(project)
    assert dev.up(yes=True) == 0
    (state,) = (project / ".workbench/pulumi/.pulumi/stacks").rglob("dev.json")
    cut, whole = (state.with_name(f"{name}.attrs") for name in ("dev.json", "dev.json.bak"))
    cut.write_text("")
    whole.write_text("{}")
    assert dev.up(yes=True) == 0
    assert (cut.exists(), whole.exists()) == (False, True)
