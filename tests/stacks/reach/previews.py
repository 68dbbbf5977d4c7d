"""Previews of the environments that this project ships, by its command line."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests import preloaded
from tests.stacks.shipped import ROOT


def preview(stack: str, folder: Path, **changes: Any) -> subprocess.CompletedProcess[str]:
    """Preview as a pull request would: no credentials, no kubeconfig, no home folder."""
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    for name in ("components", "stacks"):
        (folder / name).symlink_to(ROOT / name)
    settings = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())
    for key, value in changes.items():
        settings["config"][f"inference-platform:{key}"] |= value
    (folder / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump(settings))
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "200"}
    return preloaded.run("preview", "--stack", stack, "--details", cwd=folder, env=env)
