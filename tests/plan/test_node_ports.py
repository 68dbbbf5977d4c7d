"""Ports of nodes beside network policies: what arrives through another node is dropped, so the plan says so."""

from typing import Any

import pytest

from components.families import objects
from components.plan.plan import plan
from components.plan.settings import FleetSettings
from tests.families.llmkube.support import isvc, model


def warned(kind: str, *, policies: bool, **said: Any) -> list[str]:
    manifests = objects([model(), isvc(endpoint={"type": kind})])
    settings = FleetSettings.model_validate({"hardening": {"networkPolicies": policies}, **said})
    return [p.reason for p in plan(manifests, settings.environment()).problems if "NodePort" in p.reason]


@pytest.mark.parametrize(
    ("kind", "policies", "warnings"), [("NodePort", True, 1), ("NodePort", False, 0), ("ClusterIP", True, 0)]
)
def test_a_port_of_a_node_beside_policies_is_a_warning(kind: str, policies: bool, warnings: int) -> None:
    assert len(warned(kind, policies=policies)) == warnings
