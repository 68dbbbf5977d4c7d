"""Every Python block runs: programs from the wheel (tests/resources/serving), the steps to a family in order."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from components.contract.problems import errors
from components.families import FAMILIES, load
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.documentation.blocks import blocks

PAIR = """\
apiVersion: acme.example/v1
kind: Pair
metadata: {name: a}
spec: {weights: w, instanceType: g5.2xlarge, decode: 2}
"""
IMPORTS = """\
from typing import Any, ClassVar, Literal

from components.contract.base import ApiModel, Rule, ScaleReplicas
from components.contract.findings.collector import Findings
from components.contract.kinds import Kind
from components.contract.load import Loaded
from components.contract.meta import Resource
from components.contract.rules import OBJECT_NAME
from components.families.family import Family, Member
from components.fleet.demand import NodeChoice, NodeField, PodDemand
from components.fleet.library import Library
from components.fleet.objects import new_object
from components.fleet.options import Options
from components.fleet.origins import Origin
from components.fleet.placement import place
from components.fleet.rendered import Rendered
from components.fleet.serving import server_of
from components.fleet.workloads import Workload

"""
"""What the steps mention without importing it."""
BEFORE = """\
    spec = source.resource.spec
    container = {"name": "server", "image": "vllm/vllm-openai:v0.20.0", "args": [spec.weights]}
    container["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    pod = {"containers": [container]}
    labels = {"pair": source.name}
    template = {"metadata": {"labels": labels}, "spec": pod}
    body = {"replicas": spec.prefill, "selector": {"matchLabels": labels}, "template": template}
    deployment = new_object("apps/v1", "Deployment", source.name, options.namespace, body)
"""
AFTER = '    return Rendered(source, "Pair", source.name, options.namespace, workloads=(workload,))\n\n'


def steps() -> dict[str, str]:
    """The blocks of docs/families.md, by the step that they show."""
    found = [block.text for block in blocks("python") if block.page == "docs/families.md"]
    assert len(found) == 4
    return dict(zip(("types", "signature", "workload", "family"), found, strict=True))


def test_a_python_block_is_a_program_or_a_step() -> None:
    for block in blocks("python"):
        assert "from inference_platform" in block.text or block.page == "docs/families.md", block


@pytest.fixture
def family(tmp_path: Path) -> Any:
    """The family that the steps make, in the order of the page, with what lies between them."""
    shown = steps()
    body = "".join(f"    {line}\n" if line else "\n" for line in shown["workload"].splitlines())
    requests = "def requests_of(pod: Any) -> Any:\n    return {'nvidia.com/gpu': 1}\n\n\n"
    module = (
        IMPORTS + requests + shown["types"] + "\n\n" + shown["signature"] + BEFORE + body + AFTER + shown["family"]
    )
    path = tmp_path / "acme.py"
    path.write_text(module)
    made = runpy.run_path(str(path))["FAMILY"]
    FAMILIES.append(made)
    try:
        yield made
    finally:
        FAMILIES.remove(made)


def test_the_steps_to_a_family_make_one(family: Any, tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(PAIR)
    planned = plan(load([tmp_path / "pair.yaml"]), Environment())
    assert not errors(planned.problems)
    (rendered,) = planned.fleet.rendered
    assert (rendered.kind, rendered.workloads[0].role) == ("Pair", "prefill")
    assert [group.instance_type for group in planned.groups] == ["g5.2xlarge"]
