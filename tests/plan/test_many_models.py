"""``workbench plan`` takes time and memory in proportion to the models: 1,000 of them behind a gateway."""

import cProfile
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from components.plan.review.snapshot import Snapshot
from tests.bench.fleets import booster, manifest, write_fleet
from tests.hostile.runs import ROOT, project
from workbench.planning.snapshot import take

MOST_TIMES = 4.5
"""What four times the models may take of what 250 take: the rest is room for noise."""

# A process counts the memory of its parent until it runs a program of its own: a small one stands between.
MEASURED = """\
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "workbench", *sys.argv[1:]], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""


def planned(folder: Path, models: int) -> tuple[float, float]:
    """Plan so many models with the settings of staging, and return seconds of CPU and MiB of memory."""
    staging = yaml.safe_load((ROOT / "Pulumi.staging.yaml").read_text())
    staging["config"] |= {"inference-platform:models": ["models"], "inference-platform:namespace": "bench"}
    folder.mkdir()
    project(folder, yaml.safe_dump(staging))
    write_fleet(folder / "models", models)
    command = [sys.executable, "-c", MEASURED, "plan", "--stack", "local", "--cwd", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert f", {models:,} models fit, " in done.stdout
    seconds, kib = done.stderr.splitlines()[-1].split()
    return float(seconds), int(kib) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux alone")
def test_the_cost_of_a_plan_is_linear_in_models(tmp_path: Path) -> None:
    few_seconds, few_mib = planned(tmp_path / "few", 250)
    many_seconds, many_mib = planned(tmp_path / "many", 1_000)
    assert many_seconds <= MOST_TIMES * few_seconds
    assert many_mib <= MOST_TIMES * few_mib
    # A million dependencies took 1,680 MiB. It is 849 without the aliases of the objects, and 1,221 with them.
    assert many_mib < 1_300


FEW, MANY = 40, 160  # four times as many, as above
OWN = ("components", "livefleet", "stacks", "workbench")
LEAST_CALLS = 1_000
"""A function that is called less often costs nothing, even if each model calls it for each other one."""


def counted(folder: Path, models: int) -> tuple[Snapshot, Counter[str]]:
    """Plan models of two families behind the gateway of the stack local, and count the calls of each function."""
    local = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
    local["config"] |= {"inference-platform:models": ["models"], "inference-platform:namespace": "bench"}
    del local["config"]["inference-platform:serviceLevels"]
    folder.mkdir()
    project(folder, yaml.safe_dump(local))
    served = manifest(0).replace("replicas: 0", "replicas: 1"), booster(1)
    write_fleet(
        folder / "models",
        models,
        lambda index: served[index % 2].replace(f"model-{index % 2:04d}", f"model-{index:04d}"),
    )
    profile = cProfile.Profile()
    snapshot = profile.runcall(take, folder, "local")
    calls: Counter[str] = Counter()
    for entry in profile.getstats():
        if not isinstance(entry.code, str) and Path(entry.code.co_filename).is_relative_to(ROOT):
            file = Path(entry.code.co_filename).relative_to(ROOT)
            if file.parts[0] in OWN:
                calls[f"{file}:{entry.code.co_firstlineno} {entry.code.co_name}"] += entry.callcount
    return snapshot, calls


def test_no_function_is_called_for_each_pair_of_models(tmp_path: Path) -> None:
    counted(tmp_path / "warm", 4)  # what is read once is no work of a model
    few, of_few = counted(tmp_path / "few", FEW)
    many, of_many = counted(tmp_path / "many", MANY)
    assert (len(few.models), len(many.models)) == (FEW, MANY)
    quadratic = {
        name: (of_few[name], calls)
        for name, calls in of_many.items()
        if calls >= LEAST_CALLS and calls > MOST_TIMES * of_few[name]
    }
    assert not quadratic
    assert sum(of_many.values()) <= MOST_TIMES * sum(of_few.values())
