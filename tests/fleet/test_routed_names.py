"""Names of models behind one router."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.rendering import render_fleet

ROOT = Path(__file__).parents[2]
CLASH = "is also generated for"


def manifest(file: str) -> dict[str, Any]:
    """Return the first manifest of a file; what the operator does not support of it is ignored."""
    body: dict[str, Any] = next(iter(yaml.safe_load_all((ROOT / "stacks/models" / file).read_text())))
    body["metadata"]["annotations"] = {"ignore.inference-platform/operator-unsupported": "only names matter here"}
    return body


@pytest.mark.parametrize("realization", Realization)
def test_models_behind_one_router_do_not_clash(realization: Realization) -> None:
    manifests = objects([manifest(f"kthena-{name}.yaml") for name in ("vllm", "sglang")])
    fleet = render_fleet(manifests.resources, Options(realization=realization))
    assert len(fleet.rendered) >= 2
    assert [problem.reason for problem in fleet.problems if CLASH in problem.reason] == []


def test_models_of_one_name_still_do() -> None:
    booster, serving = manifest("kthena-vllm.yaml"), manifest("kthena-routed.yaml")
    # The controller names the ModelServing of a backend after the booster and the backend.
    serving["metadata"]["name"] = f"{booster['metadata']['name']}-{booster['spec']['backends'][0]['name']}"
    manifests = objects([booster, serving])
    fleet = render_fleet(manifests.resources, Options(realization=Realization.OPERATOR))
    assert [problem.reason for problem in fleet.problems if CLASH in problem.reason]
