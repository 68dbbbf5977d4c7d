"""Large packages are extras of their own: each command works without them, or names the extra that it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers.modules import ROOT

BENCHMARK = "concurrency,itl_ms\n1,20\n2,21\n4,23\n8,27\n16,35\n"


def run(without: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command where a package is not installed."""
    script = (
        f"import sys; sys.modules[{without!r}] = None; sys.argv = ['workbench', *sys.argv[1:]]\n"
        "from workbench.__main__ import main; main()"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, *words]
    env = {"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(folder)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_without_scipy_a_fit_names_its_extra(tmp_path: Path) -> None:
    (tmp_path / "bench.csv").write_text(BENCHMARK)
    done = run("scipy.special", tmp_path, "fit-profile", "bench.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert "fit-profile needs scipy" in done.stderr
    assert "pip install 'inference-platform[fit]'" in done.stderr


def test_without_matplotlib_a_picture_names_its_extra(tmp_path: Path) -> None:
    (tmp_path / "bench.csv").write_text(BENCHMARK)
    done = run("matplotlib", tmp_path, "fit-profile", "bench.csv", "--plot", "fit.svg")
    assert done.returncode == 1
    assert "pictures need matplotlib: pip install 'inference-platform[plot]'" in done.stderr
    assert run("matplotlib", tmp_path, "fit-profile", "bench.csv").returncode == 0


def test_without_boto3_an_adoption_names_its_extra(tmp_path: Path) -> None:
    done = run("boto3", tmp_path, "adopt", "fleet", "--aws", "prod")
    assert done.returncode == 2
    assert done.stderr == "--aws requires boto3: pip install 'inference-platform[aws]'\n"
    (tmp_path / "state.json").write_text("{}")
    done = run("boto3", tmp_path, "adopt", "fleet", "--terraform", "state.json")
    assert "state.json: the file: has no values" in done.stderr


def test_a_load_begins_only_where_its_page_can_be_drawn(tmp_path: Path) -> None:
    words = ("load", "--model", "m", "--url", "http://127.0.0.1:9/v1", "--rate", "1", "--duration", "1s")
    done = run("matplotlib", tmp_path, *words, "--save", "page.html")
    assert done.returncode == 1
    assert done.stderr == "pictures need matplotlib: pip install 'inference-platform[plot]'\n"
    assert "pictures need" not in run("matplotlib", tmp_path, *words, "--save", "page.json").stderr


@pytest.mark.parametrize("package", ["matplotlib", "scipy", "boto3"])
def test_other_commands_need_neither(package: str, tmp_path: Path) -> None:
    done = run(package, tmp_path, "validate", str(ROOT / "stacks/models/qwen-chat.yaml"))
    assert done.returncode == 0, done.stderr
