"""``make env`` says how far it is, and where pip fails what pip said."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers.modules import ROOT

SLOW = """
import sys, time
print("Collecting numpy==2.1.0 (from -r lock)", flush=True)
time.sleep(1)
print("Installing collected packages: numpy", flush=True)
time.sleep(1)
"""
LOCK = "numpy==2.1.0 \\\n    --hash=sha256:0\nscipy==1.14.1 ; sys_platform == 'linux' \\\n    --hash=sha256:1\n"


def installed(folder: Path, pip: str, pause: float) -> subprocess.CompletedProcess[str]:
    """The script, with a pip that does this."""
    (folder / "pip").mkdir()
    (folder / "pip/__main__.py").write_text(pip)
    (folder / "pip/__init__.py").touch()
    (folder / "lock").write_text(LOCK)
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'ci')!r}); import install; from pathlib import Path"
    command = [sys.executable, "-c", f"{program}; sys.exit(install.main(Path('lock'), {pause}))"]
    environment = {"PYTHONPATH": str(folder), "PATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_progress_is_told_while_pip_is_silent(tmp_path: Path) -> None:
    done = installed(tmp_path, SLOW, 0.1)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Installing 2 packages; the first time this takes a few minutes.\n")
    assert "  package 1 of up to 2: numpy (" in done.stdout
    assert "  unpacking 1 packages (" in done.stdout
    assert "  done in " in done.stdout


@pytest.mark.parametrize("code", [1, 2])
def test_where_pip_fails_its_words_are_shown(tmp_path: Path, code: int) -> None:
    said = "print('x\\n' * 100, flush=True)\nprint('ERROR: hashes differ', file=sys.stderr)"
    pip = f"import sys\n{said}\nsys.exit({code})\n"
    done = installed(tmp_path, pip, 5.0)
    assert done.returncode == code
    assert done.stderr.endswith("ERROR: hashes differ\n")
    assert len(done.stderr.splitlines()) == 40


def test_make_env_uses_it() -> None:
    assert "$(BIN)/python ci/install.py requirements.lock\n" in (ROOT / "Makefile").read_text()
