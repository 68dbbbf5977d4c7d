"""Every Python block runs: programs from the wheel (tests/resources/serving), the steps to a family in order."""

import dataclasses
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from components.contract.problems import errors
from components.families import FAMILIES, load, profile_entries
from components.families.family import Family
from components.performance.sizing.cases import Profile
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.documentation.blocks import blocks

PAIR = """\
apiVersion: acme.example/v1
kind: Pair
metadata: {name: a}
spec: {weights: w, instanceType: g5.2xlarge, decode: 2}
"""


def steps() -> dict[str, str]:
    """The modules of docs/families.md, by the step that they show."""
    found = [block.text for block in blocks("python") if block.page == "docs/families.md"]
    assert len(found) == 4
    return dict(zip(("types", "rendering", "family", "protocol"), found, strict=True))


def test_a_python_block_is_a_program_or_a_step() -> None:
    for block in blocks("python"):
        assert "from inference_platform" in block.text or block.page == "docs/families.md", block


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The family that the steps make, with nothing added but where its folder is."""
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name, text in steps().items():
        elsewhere = text.replace("from ...", "from components.").replace("from ..", "from components.families.")
        (folder / f"{name}.py").write_text(elsewhere)
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module("acme.family").FAMILY
    FAMILIES.append(made)
    yield made
    FAMILIES.remove(made)
    for name in [name for name in sys.modules if name.split(".")[0] == "acme"]:
        del sys.modules[name]


def test_the_steps_to_a_family_make_one(family: Any, tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(PAIR)
    planned = plan(load([tmp_path / "pair.yaml"]), Environment())
    assert not errors(planned.problems)
    (rendered,) = planned.fleet.rendered
    assert (rendered.kind, rendered.workloads[0].role) == ("Pair", "prefill")
    assert [group.instance_type for group in planned.groups] == ["g5.2xlarge"]


def test_the_step_to_a_protocol_makes_a_family_that_implements_it(family: Family) -> None:
    acme = importlib.import_module("acme.protocol").Acme
    made = acme(**{field.name: getattr(family, field.name) for field in dataclasses.fields(Family)})
    FAMILIES.remove(family)
    FAMILIES.append(made)
    try:
        assert profile_entries(Profile("H100", 1, 7.0, 0.5, 64))["acme"] == {"alpha": 7.0, "beta": 0.5}
    finally:
        FAMILIES.remove(made)
        FAMILIES.append(family)
