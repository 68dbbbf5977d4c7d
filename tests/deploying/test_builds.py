"""What ``plan`` and ``up`` say before programs are built."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import preloaded
from tests.layers.modules import ROOT
from workbench.cluster.members import MEMBERS
from workbench.deploying.builds import build_minutes, described


@pytest.mark.parametrize(
    ("programs", "minutes"),
    [
        (MEMBERS, 4),
        (["kwok"], 4),
        (["translator"], 1),
        (["prometheus", "adapter"], 1),
        (["adapter"], 1),
        (["lws-controller"], 1),
        ([*MEMBERS, "lws-controller", "translator", "prometheus", "adapter"], 6),
        ([], 0),
    ],
)
def test_the_programs_of_the_control_plane_are_one_build(programs: list[str], minutes: int) -> None:
    assert build_minutes(programs) == minutes


def test_programs_are_named() -> None:
    assert described(["prometheus", "adapter"]) == (
        "prometheus, adapter, once for all clones: about 1 min on two cores"
    )


def planned(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``plan`` on a machine without programs but those in a cache."""
    env = {"PATH": "/nowhere", "HOME": str(cache), "XDG_CACHE_HOME": str(cache)}
    done = preloaded.run("plan", *words, env=env)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.skipif(bool(find_spec("inference_platform_cluster")), reason="the programs are installed as wheels")
def test_plan_tells_what_the_first_up_builds(tmp_path: Path) -> None:
    (line,) = [line for line in planned(tmp_path).stderr.splitlines() if line.startswith("note: the first `up`")]
    assert line.endswith(
        "builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok, lws-controller, "
        "translator, prometheus, adapter, once for all clones: about 6 min on two cores"
    )


def test_plan_tells_nothing_where_nothing_is_built(tmp_path: Path) -> None:
    assert "the first `up`" not in planned(tmp_path, "--stack", "prod").stderr
    (tmp_path / "one.yaml").write_text((ROOT / "stacks/models/qwen-chat.yaml").read_text())
    assert "the first `up`" not in planned(tmp_path, str(tmp_path / "one.yaml")).stderr
