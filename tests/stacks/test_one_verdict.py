"""``validate``, ``plan``, ``preview --offline`` and the program say the same of the settings of a stack."""

import json
import logging
import re
import shutil
from pathlib import Path

import pulumi
import pytest
import yaml

from stacks.environment import deploy
from stacks.settings import read
from tests.hostile.runs import Printed, run
from tests.hostile.test_planted import PASSPHRASE, sealed
from tests.recorded import deploy as record
from tests.stacks.mutated import FILES, KEY, ROOT, SALT, documents
from workbench.engine.project import load_project
from workbench.errors import WorkbenchError

STACK = "test"
FILE = f"Pulumi.{STACK}.yaml"
LOCATED = re.compile(rf"{re.escape(FILE)}:[1-9][0-9]*: {KEY}\S|{re.escape(FILE)}:[1-9][0-9]*:[0-9]+: not valid YAML")
Verdict = tuple[bool, frozenset[str]]
"""Whether a document is accepted, and the errors."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "stacks").symlink_to(ROOT / "stacks")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for name in ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def lines(text: str) -> frozenset[str]:
    """Errors, each with the lines that continue it; without what only counts them."""
    joined = text.replace("\n    ", " ")
    return frozenset(
        line
        for line in joined.splitlines()
        if line
        and not re.match(r"note: |warning: |info: |\d+ problems? found; ", line)
        and not line.endswith(("(warning)", "(note)"))
        and "(ignored: " not in line
    )


def verdict(done: Printed, text: str) -> Verdict:
    assert done.code in (0, 1), text
    return not done.code, lines(text)


def by_validate() -> Verdict:
    done = run("validate", "--stack", STACK, "--output", "lines")
    return verdict(done, done.stdout + done.stderr)


def by_plan() -> Verdict:
    done = run("plan", "--stack", STACK, "--output", "json")
    if not done.stdout:
        return verdict(done, done.stderr)
    head = json.loads(done.stdout)["review"]["head"]
    found = [head["failed"]]
    for each in head["findings"]:
        if each["severity"] == "error" and not each["ignored"]:
            place = f"{each['file']}:{each['line']}" if each["line"] else each["file"]
            subject = f"{each['kind']}/{each['name']}: " if each["kind"] else ""
            path = f"{each['path']}: " if each["path"] else ""
            rule = "" if each["rule"] in ("contract", "settings") else f" [{each['rule']}]"
            found.append(f"{place}: {subject}{path}{each['reason']}{rule}")
    return verdict(done, "\n".join(found))


def by_preview() -> Verdict:
    done = run("preview", "--offline", "--engine", "local", "--stack", STACK, "--output", "json")
    return verdict(done, done.stderr)


def by_program() -> Verdict:
    try:
        project = load_project(Path(), STACK, offline=True)
    except WorkbenchError as error:
        return False, lines(str(error))
    config = {key.removeprefix(KEY): value for key, value in project.config.items() if key.startswith(KEY)}
    if project.kubeconfig:
        Path("nowhere").write_text("")
        config["kubeconfig"] = "nowhere"
    logging.disable(logging.CRITICAL)
    try:
        record(lambda: deploy(read()), preview=True, config=config)
    except pulumi.RunError as error:
        return False, lines(str(error))
    finally:
        logging.disable(logging.NOTSET)
    return True, frozenset()


def verdicts() -> dict[str, Verdict]:
    return {"validate": by_validate(), "plan": by_plan(), "preview": by_preview(), "program": by_program()}


def write_settings(project: Path, **changes: object) -> None:
    """Write the settings of the local stack with some others."""
    shipped = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())["config"]
    config = {**shipped, f"{KEY}models": ["models.yaml"], **{f"{KEY}{key}": value for key, value in changes.items()}}
    (project / FILE).write_text(yaml.safe_dump({"encryptionsalt": SALT, "config": config}))


@pytest.mark.parametrize("passphrase", [PASSPHRASE, ""], ids=["with the passphrase", "without"])
@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"namespace": sealed("models")}, "namespace"),
        ({"realization": sealed("native")}, "realization"),
        ({"frontDoor": {"expose": sealed("gateway")}}, "frontDoor"),
        ({"models": [sealed("models.yaml")]}, "models"),
        ({"clusterName": sealed("team")}, ""),
    ],
    ids=["namespace", "realization", "a map", "a list", "not checked"],
)
def test_whether_an_encrypted_setting_is_accepted_does_not_depend_on_the_passphrase(
    changes: dict[str, object], refused: str, passphrase: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if passphrase:
        monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", passphrase)
    write_settings(project, **changes)
    found = verdicts()
    assert {name: accepted for name, (accepted, _) in found.items()} == dict.fromkeys(found, not refused), found
    assert len({errors for _, errors in found.values()}) == 1, found
    for line in found["validate"][1]:
        assert f"{KEY}{refused}" in line
        assert "is encrypted, so that it cannot be checked" in line


def test_a_setting_without_a_value_is_a_warning(project: Path) -> None:
    """The Pulumi CLI v3.274.1 reads it as an empty text, and warns that later releases will read null."""
    write_settings(project, prices=None)
    warning = re.compile(rf"{FILE}:\d+: {KEY}prices: has no value: Pulumi reads \"\" today")
    done = run("validate", "--stack", STACK, "--output", "lines")
    assert warning.search(done.stdout + done.stderr)
    write_settings(project, prices="prices.yaml")
    done = run("validate", "--stack", STACK, "--output", "lines")
    assert "has no value" not in done.stdout + done.stderr


BALANCED = {"vpcId": "vpc-0a1b", "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"}}
ROLE = "arn:aws:iam::123456789012:role/nodes"


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        (
            {"network": {**BALANCED, "publicSubnets": {"us-east-1a": "subnet-c"}}},
            "network.publicSubnets: has no effect",
        ),
        ({"cluster": {"existing": True, "systemNodes": 3}}, "cluster.systemNodes: has no effect on an existing"),
        (
            {"cluster": {"nodeRoleArn": ROLE}, "imageCache": {"registries": ["quay.io"], "account": "123456789012"}},
            "imageCache: nodes with the role cluster.nodeRoleArn cannot cache",
        ),
    ],
    ids=["subnets", "existing", "cache"],
)
def test_warnings_that_depend_on_settings_alone_are_in_every_command(
    changes: dict[str, object], warning: str, project: Path
) -> None:
    """Only the program logged them, so that no command showed them before an update."""
    shipped = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    config = {**shipped, f"{KEY}models": ["models.yaml"], **{f"{KEY}{key}": value for key, value in changes.items()}}
    (project / FILE).write_text(yaml.safe_dump({"config": config}))
    for command in (("validate", "--output", "lines"), ("plan", "--output", "text", "--details"), PREVIEW):
        done = run(command[0], "--stack", STACK, *command[1:])
        text = " ".join((done.stdout + done.stderr).split())
        assert text.count(warning) == 1 or text.count(warning.partition(": ")[2]) == 1, text
    (project / FILE).write_text(yaml.safe_dump({"config": {**shipped, f"{KEY}models": ["models.yaml"]}}))
    done = run("validate", "--stack", STACK, "--output", "lines")
    assert warning not in done.stdout + done.stderr


PREVIEW = ("preview", "--offline", "--engine", "local", "--details")


@pytest.mark.parametrize("document", [*documents(60, seed=43)], ids=map(str, range(60)))
def test_mutated_settings(project: Path, document: str) -> None:
    (project / FILE).write_text(document)
    found_by = verdicts()
    accepted, errors = found_by["validate"]
    different = [
        f"{name}: {'accepts' if others else 'refuses'}; more {sorted(found - errors)}; fewer {sorted(errors - found)}"
        for name, (others, found) in found_by.items()
        if (others, found) != (accepted, errors)
    ]
    assert different == [], f"{document}\nvalidate {'accepts' if accepted else 'refuses'}"
    assert accepted == (not errors)
    assert [line for line in errors if line.startswith("Pulumi.") and not LOCATED.match(line)] == [], document
