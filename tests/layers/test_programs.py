"""What running programs load, and who touches what Pulumi keeps private."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers.modules import ROOT, modules
from tests.layers.order import within

PRIVATE = ("pulumi.runtime.mocks", "pulumi.runtime.stack", "pulumi.runtime.settings")


def test_only_the_adapter_of_the_engine_touches_what_pulumi_keeps_private() -> None:
    project = modules("components", "stacks", "workbench")
    users = [module.path for module in project if any(within(name, *PRIVATE) for name in module.imports)]
    assert len(users) <= 1, users


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
