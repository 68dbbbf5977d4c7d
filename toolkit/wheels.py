"""Programs from the wheels of the package inference-platform-cluster, which were built before."""

import importlib.util
import json
from pathlib import Path
from typing import Any

PACKAGES = ("inference_platform_cluster", "inference_platform_cluster_live", "inference_platform_cluster_groups")
"""Several packages, because a file on PyPI may have 100 MB."""
MANIFEST = "programs.json"


def packaged(name: str, inputs: str) -> Path | None:
    """Return the program of an installed wheel if it was built from the same inputs, such as go.mod and go.sum.

    Args:
        name: The program.
        inputs: Digest of everything that its build depends on, except for the version of Go.
    """
    for package in PACKAGES:
        folder = _folder(package)
        entry = _manifest(folder).get(name) if folder else None
        if folder and entry and entry["inputs"] == inputs:
            return folder / "bin" / name
    return None


def outdated(name: str, inputs: str) -> bool:
    """Whether a wheel is installed whose program was built from other inputs: of another release."""
    manifests = [_manifest(folder) for folder in map(_folder, PACKAGES) if folder]
    return packaged(name, inputs) is None and any(name in manifest for manifest in manifests)


def _folder(package: str) -> Path | None:
    # Found, not imported: the packages contain no code.
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    try:
        manifest: dict[str, dict[str, Any]] = json.loads((folder / MANIFEST).read_text())
    except OSError:
        return {}
    return manifest
