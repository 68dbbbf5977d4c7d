"""What the page about pull requests shows is what there is."""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml
from guardrails import schemas
from guardrails.schemas import Guardrail

from tests.documentation.blocks import Block, blocks
from tests.workflows.projects import ROOT
from tests.workflows.workflows import workflows

PAGE = "docs/pull-requests.md"
TEXT = (ROOT / PAGE).read_text()
BLOCKS = [block for block in blocks() if block.page == PAGE]
GUARDRAILS = {each.name: each for each in vars(schemas).values() if isinstance(each, Guardrail)}


def one(start: str) -> Block:
    (found,) = [block for block in BLOCKS if start in block.text]
    return found


def test_the_include_is_there() -> None:
    (include,) = yaml.safe_load(one("include:").text)["include"]
    assert (ROOT / include["local"]).is_file()


def test_the_hook_is_there_and_pre_commit_takes_it(tmp_path: Path) -> None:
    text = one("repos:").text
    (repo,) = yaml.safe_load(text)["repos"]
    known = {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {each["id"] for each in repo["hooks"]} <= known
    (tmp_path / ".pre-commit-config.yaml").write_text(text)
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(tmp_path / ".pre-commit-config.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_role_is_for_one_repository_and_one_environment() -> None:
    (statement,) = json.loads(one("sts:AssumeRoleWithWebIdentity").text)["Statement"]
    (condition,) = statement["Condition"]
    assert condition == "StringEquals"
    values = {key.rpartition(":")[2]: value for key, value in statement["Condition"][condition].items()}
    assert values["aud"] == "sts.amazonaws.com"
    assert re.fullmatch(r"repo:[^*/:]+/[^*/:]+:environment:preview-prod", values["sub"])


def test_policies_take_what_is_shown() -> None:
    for name, settings in json.loads(one("monthly-budget").text).items():
        assert settings.keys() - {"enforcementLevel"} <= GUARDRAILS[name].properties.keys()


def test_every_policy_is_in_the_table_with_its_settings() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|[^|]+\|([^\n]+)\|$", TEXT, re.MULTILINE))
    assert {name: sorted(re.findall(r"`(\w+)` \(", row)) for name, row in rows.items()} == {
        name: sorted(each.properties) for name, each in GUARDRAILS.items()
    }
    for name, row in rows.items():
        for setting, default in re.findall(r"`(\w+)` \(`?([\[{\d\"][^`)]*)`?", row):
            assert json.loads(default) == GUARDRAILS[name].properties[setting]["default"], (name, setting)


def test_every_variable_of_the_workflows_is_explained() -> None:
    used = {name for each in workflows() for name in re.findall(r"vars\.(\w+)", each.text)}
    assert len(used) == 8
    assert {name for name in used if f"`{name}`" not in TEXT} == set()


def test_every_workflow_is_in_the_table() -> None:
    assert [each.name for each in workflows() if f"](../.github/workflows/{each.name})" not in TEXT] == []
