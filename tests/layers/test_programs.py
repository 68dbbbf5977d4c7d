"""What running programs load."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers.modules import ROOT


@pytest.mark.parametrize("command", ["render", "validate"])
def test_commands_that_need_no_cluster_load_nothing_heavy(command: str, tmp_path: Path) -> None:
    """They run in pull requests and editors, where every tenth of a second counts."""
    (tmp_path / "empty.yaml").write_text("")
    script = (
        "import sys; from workbench.cli import app\n"
        f"sys.argv = ['workbench', {command!r}, {str(tmp_path)!r}]\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "heavy = {'pulumi', 'pulumi_kubernetes', 'pulumi_aws', 'httpx', 'cryptography'}\n"
        "heavy = (heavy | {'numpy', 'scipy', 'matplotlib'}) & set(sys.modules)\n"
        "sys.exit(f'loaded {sorted(heavy)}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
