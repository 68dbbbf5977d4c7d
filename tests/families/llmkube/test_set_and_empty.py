"""What is set and empty is not unset: it replaces the default as a whole."""

from typing import Any

import pytest

from components.fleet.words import Realization
from tests.families.llmkube.support import isvc, model
from tests.families.llmkube.test_components import program
from tests.fleets import errors, fleet_of
from tests.recorded import deploy


def pod(**spec: Any) -> Any:
    fleet = fleet_of(model(), isvc(**spec))
    assert not errors(fleet)
    return fleet.rendered[-1].workloads[0].front["spec"]


def test_an_empty_security_context_replaces_the_default() -> None:
    assert pod(securityContext={})["containers"][0]["securityContext"] == {}
    assert pod(podSecurityContext={})["securityContext"] == {}
    assert pod()["securityContext"]
    assert pod()["containers"][0]["securityContext"]


def test_an_empty_list_of_pull_secrets_is_none_at_all() -> None:
    environment = pod(imagePullSecrets=[])
    assert "imagePullSecrets" not in environment


@pytest.mark.parametrize("probe", ["startup", "liveness", "readiness"])
def test_a_probe_that_asks_nothing_is_refused(probe: str) -> None:
    (problem,) = errors(fleet_of(model(), isvc(probeOverrides={probe: {"periodSeconds": 5}})))
    assert problem.path == f"spec.probeOverrides.{probe}"
    assert "httpGet" in problem.reason


EMPTY: dict[str, Any] = {"securityContext": {}, "podSecurityContext": {}}


def test_an_empty_context_reaches_the_operator_as_it_is_written() -> None:
    fleet = fleet_of(model(), isvc(**EMPTY), realization=Realization.OPERATOR)
    written = next(body for item in fleet.rendered for body in item.others if body["kind"] == "InferenceService")
    assert EMPTY.items() <= written["spec"].items()
    spec = fleet.rendered[-1].workloads[0].front["spec"]
    assert (spec["securityContext"], spec["containers"][0]["securityContext"]) == ({}, {})


def test_an_empty_argument_of_a_component_is_not_an_absent_one() -> None:
    def pod_of(**args: Any) -> Any:
        recorded = deploy(program(**args))
        deployment = next(e for e in recorded.graph if e.key == "kubernetes:apps/v1:Deployment::chat")
        return deployment.inputs["spec"]["template"]["spec"]

    empty, unset = pod_of(security_context={}, pod_security_context={}), pod_of()
    assert empty["containers"][0].get("securityContext", {}) == {}
    assert empty.get("securityContext", {}) == {}
    assert unset["containers"][0]["securityContext"]
    assert unset["securityContext"]
