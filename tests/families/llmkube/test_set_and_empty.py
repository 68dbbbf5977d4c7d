"""What is set and empty is not unset: it replaces the default as a whole."""

from typing import Any

import pytest

from tests.families.llmkube.support import isvc, model
from tests.fleets import errors, fleet_of


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
