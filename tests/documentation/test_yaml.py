"""Every YAML block is what it says: manifests that deploy, settings that a stack takes, a program that runs."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from components.contract.problems import errors
from components.families import load
from components.fleet.words import OtherKinds
from components.plan.costs.price_file import read_prices
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.settings import FleetSettings
from tests.documentation.blocks import ROOT, Block, blocks, body, file_name, is_manifest, is_setting
from tests.resources.plugin.engine import output, running

SCHEMA = json.loads((ROOT / "stacks" / "settings.schema.json").read_text())
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec: {familyName: m, source: {modelHub: {modelID: a/m}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: p}
spec:
  modelClaim: {modelName: m}
"""


def is_program(block: Block) -> bool:
    return "\nruntime: yaml\n" in block.text


def is_part(block: Block) -> bool:
    """A field of a Playground's specification."""
    return block.text.startswith("elasticConfig:")


def is_of_pod(block: Block) -> bool:
    """Fields of a pod's specification, as the tests of draining compare them with what is rendered."""
    return block.text.startswith(("lifecycle:", "terminationGracePeriodSeconds:"))


def is_prices(block: Block) -> bool:
    return block.text.startswith("date:")


def is_of_pipelines(block: Block) -> bool:
    """Configuration of GitHub, GitLab or pre-commit, which tests/workflows looks at."""
    return block.text.startswith(("include:", "on:", "repos:"))


def is_stack(block: Block) -> bool:
    return body(block).startswith("config:\n")


def is_project(block: Block) -> bool:
    """The project of a program of its own and its empty settings, which the walkthrough of the page runs."""
    return body(block) == "config: {}\n" or (
        body(block).startswith("name:") and "runtime:\n  name: python\n" in block.text
    )


KINDS = (is_project, is_manifest, is_setting, is_stack, is_program, is_part, is_of_pod, is_prices, is_of_pipelines)


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_every_block_is_of_one_kind(block: Block) -> None:
    assert sum(kind(block) for kind in KINDS) == 1


@pytest.mark.parametrize("block", [*filter(is_manifest, blocks("yaml"))], ids=str)
def test_manifests_deploy(block: Block, tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(block.text)
    settings = FleetSettings.model_validate(settings_before(block))
    environment = Environment(settings.options(), settings.metrics(), other_kinds=OtherKinds.APPLY)
    planned = plan(load([tmp_path]), environment)
    found = {problem.rule for problem in errors(planned.problems)}
    expected = errors_after(block)
    # A plan judges fewer errors of objects that it creates unchanged than an inspection of them.
    assert found <= inspected_after(block) if inspected_after(block) else found == expected
    assert planned.fleet.rendered or planned.others


def inspected_after(block: Block) -> set[str]:
    """Rules that the page shows of an inspection of a file, directly below it."""
    following = next((each for each in blocks() if each.page == block.page and each.line > block.line), None)
    if not file_name(block) or following is None or not following.text.startswith("$ workbench inspect"):
        return set()
    return set(re.findall(r"^error\[([a-z-]+)\]", following.text, re.MULTILINE))


def errors_after(block: Block) -> set[str]:
    """Rules of the errors that the page shows for a manifest in a file, directly below it."""
    following = next((each for each in blocks() if each.page == block.page and each.line > block.line), None)
    if not file_name(block) or following is None or following.language != "console":
        return set()
    shown = re.findall(r"\[([a-z]+-[a-z-]+)\]", following.text)
    return set(shown) if "1 error" in following.text else set()


def settings_before(block: Block) -> dict[str, Any]:
    """What the page has said by then of settings without which some manifests mean nothing."""
    before = [each for each in blocks("yaml") if each.page == block.page and each.line < block.line]
    settings: dict[str, Any] = {}
    for each in filter(is_setting, before):
        settings |= yaml.load(each.text, yaml.BaseLoader)
    named = {key.removeprefix("inference-platform:"): typed(value) for key, value in settings.items()}
    return {key: value for key, value in named.items() if key in ("realizations", "serviceLevels", "prerequisites")}


@pytest.mark.parametrize("block", [*filter(is_part, blocks("yaml"))], ids=str)
def test_parts_of_manifests_deploy(block: Block, tmp_path: Path) -> None:
    part = "".join(f"  {line}\n" for line in block.text.splitlines())
    (tmp_path / "models.yaml").write_text(MODEL + part)
    planned = plan(load([tmp_path]), Environment())
    assert not errors(planned.problems)
    assert [len(each.autoscalers) for each in planned.fleet.rendered if each.name == "p"] == [1]


@pytest.mark.parametrize("block", [*filter(is_setting, blocks("yaml"))], ids=str)
def test_settings_are_taken(block: Block) -> None:
    """In the stack of a whole environment, whose other settings stay."""
    stack = yaml.safe_load((ROOT / "Pulumi.prod.yaml").read_text())
    dates = "starts:" in block.text
    settings = typed(yaml.load(block.text, yaml.BaseLoader)) if dates else yaml.safe_load(block.text)
    checked = jsonschema_rs.validator_for(SCHEMA)
    assert [str(error) for error in checked.iter_errors({"config": {**stack["config"], **settings}})] == []
    for key in settings:
        assert list(checked.iter_errors({"config": {**stack["config"], key: {"misspelt": True}}}))


@pytest.mark.parametrize("block", [*filter(is_stack, blocks("yaml"))], ids=str)
def test_stacks_are_taken(block: Block) -> None:
    assert re.fullmatch(r"Pulumi\.[a-z]+\.yaml", file_name(block) or "")
    checked = jsonschema_rs.validator_for(SCHEMA)
    stack = yaml.safe_load(block.text)
    assert [str(error) for error in checked.iter_errors(stack)] == []
    assert list(checked.iter_errors({"config": {**stack["config"], "inference-platform:misspelt": True}}))


@pytest.mark.parametrize("block", [*filter(is_prices, blocks("yaml"))], ids=str)
def test_prices_are_taken(block: Block) -> None:
    _, problems = read_prices(block.text, "prices.yaml")
    assert problems == ()


def typed(value: Any) -> Any:
    """Values of a stack file as Pulumi reads them: a date is text."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    return yaml.safe_load(value) if isinstance(value, str) and "T" not in value else value


@pytest.mark.parametrize("block", [*filter(is_program, blocks("yaml"))], ids=str)
def test_programs_run_through_the_plugin(block: Block) -> None:
    """References are outputs, as Pulumi's YAML runtime sends them."""
    program = yaml.safe_load(block.text)
    states: dict[str, Any] = {"cluster": {}}
    with running() as plugin:
        for name, resource in program["resources"].items():
            kind = resource["type"].removeprefix("inference-platform:index:")
            if kind != resource["type"]:
                states[name] = plugin.construct(kind, name, referred(resource["properties"], states))
        assert [each.name for each in plugin.engine.of("kubernetes:apps/v1:Deployment")] == ["chat"]
    for reference in program["outputs"].values():
        assert lookup(reference, states)


def referred(value: Any, states: Mapping[str, Any]) -> Any:
    """Properties with references as outputs."""
    if isinstance(value, dict):
        return {key: referred(inner, states) for key, inner in value.items()}
    if isinstance(value, list):
        return [referred(inner, states) for inner in value]
    is_reference = isinstance(value, str) and value.startswith("${")
    return output(lookup(value, states), of=("urn:x",)) if is_reference else value


def lookup(reference: str, states: Mapping[str, Any]) -> Any:
    name, _, key = reference.removeprefix("${").removesuffix("}").partition(".")
    return states[name][key]
