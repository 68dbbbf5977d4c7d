"""``workbench plan`` takes time and memory in proportion to the models: 1,000 of them behind a gateway."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.bench.fleets import write_fleet
from tests.hostile.runs import ROOT, project

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
