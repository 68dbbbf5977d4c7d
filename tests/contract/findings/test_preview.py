"""Findings in ``pulumi preview``: what is no error is logged at the component of the resource that it is about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.resources.llmaz import Playground
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.model_fleet import ModelFleet
from stacks.environment import deploy as deploy_stack
from stacks.settings import declared_defaults, parse
from tests.fleets import GPU, open_model, playground
from tests.layers.modules import ROOT
from tests.recorded import deploy, logged

MODEL = open_model(flavors=[{**GPU, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}])
TOO_LARGE = open_model(flavors=[{**GPU, "limits": {"nvidia.com/gpu": 2}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}])
ODD: dict[str, Any] = {"backendRuntimeConfig": {"args": ["--no-such-flag"], "version": "v0.8.6"}}
"""The flags of 0.8.6, which vLLM never published, are not known exactly, so this is a warning."""
Logged = list[tuple[str, str]]


@pytest.fixture(name="logged")
def _logged(monkeypatch: pytest.MonkeyPatch) -> Logged:
    return logged(monkeypatch, "WARNING")


def fleet(*bodies: dict[str, Any], **args: Any) -> Callable[[], None]:
    def program() -> None:
        given: Any = {"manifests": list(bodies), "namespace": "models", **args}
        ModelFleet("fleet", given)

    return program


def test_a_warning_is_logged_at_the_component_of_its_resource(logged: Logged) -> None:
    deploy(fleet(MODEL, playground("odd", **ODD), playground("fine")), preview=True)
    assert [place for place, _ in logged] == ["inference-platform:index:Playground::fleet-models/odd"]
    assert "--no-such-flag is not a known flag" in logged[0][1]
    assert logged[0][1].endswith("[flags-unknown]")


def test_a_component_by_itself_logs_what_is_about_it(logged: Logged) -> None:
    def program() -> None:
        Playground("odd", {"model": MODEL, "args": ["--no-such-flag"], "backend_version": "v0.8.6"})

    deploy(program, preview=True)
    assert [place for place, _ in logged] == ["inference-platform:index:Playground::odd"]
    assert logged[0][1].endswith("[flags-unknown]")


def test_two_of_one_name_are_told_apart(logged: Logged) -> None:
    first, second = playground("odd"), playground("odd", **ODD)
    first["metadata"]["namespace"], second["metadata"]["namespace"] = "a", "b"
    deploy(fleet(MODEL, first, second), preview=True)
    assert [place for place, _ in logged] == ["inference-platform:index:Playground::fleet-b/odd"]


def test_a_warning_about_no_resource_is_logged_at_the_fleet(logged: Logged) -> None:
    door = {"expose": "gateway", "internal": True}
    deploy(fleet(MODEL, playground(), front_door=door, prerequisites={"install": True}), preview=True)
    anonymous = [place for place, message in logged if message.endswith("[access-anonymous]")]
    assert anonymous == ["inference-platform:index:ModelFleet::fleet"]


def test_what_is_ignored_is_not_logged(logged: Logged) -> None:
    ignoring = playground("odd", annotations={"ignore.inference-platform/flags-unknown": "own build"}, **ODD)
    deploy(fleet(MODEL, ignoring), preview=True)
    assert logged == []


def test_an_error_stops_the_preview_and_warnings_are_told_all_the_same(logged: Logged) -> None:
    with pytest.raises(InvalidArguments, match=r"has only 1;.*\[nodes-too-small\]"):
        deploy(fleet(TOO_LARGE, playground("odd", **ODD)), preview=True)
    assert [place for place, _ in logged] == [""], "there is no component yet"


@pytest.fixture
def stack(tmp_path: Path) -> Callable[..., Callable[[], None]]:
    """A stack of some manifests."""

    def of(*bodies: dict[str, Any]) -> Callable[[], None]:
        file, kubeconfig = tmp_path / "models.yaml", tmp_path / "kubeconfig"
        file.write_text(yaml.safe_dump_all(bodies))
        kubeconfig.write_text("")
        given = {**declared_defaults(ROOT / "Pulumi.yaml"), "kubeconfig": str(kubeconfig), "models": [str(file)]}
        return lambda: deploy_stack(parse(given, "Pulumi.test.yaml"))

    return of


def test_a_stack_does_the_same(logged: Logged, stack: Callable[..., Callable[[], None]]) -> None:
    deploy(stack(MODEL, playground("odd", **ODD)), preview=True)
    assert [place for place, _ in logged] == ["inference-platform:index:Playground::fleet-models/odd"]


def test_a_stack_with_an_error_registers_nothing(logged: Logged, stack: Callable[..., Callable[[], None]]) -> None:
    with pytest.raises(pulumi.RunError, match=r"1 problem found; nothing was created(.|\n)*\[nodes-too-small\]"):
        deploy(stack(TOO_LARGE, playground("odd", **ODD)), preview=True)
    assert [place for place, _ in logged] == [""]
