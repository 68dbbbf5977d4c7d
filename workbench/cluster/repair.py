"""What to do about a simulated cluster that does not run as a whole."""

import shlex
from pathlib import Path

from toolkit.private import STATE_DIR

from .cluster import SimulatedCluster

_NEEDED = ("etcd", "kube-apiserver")
"""Without these nothing answers; without the others nothing is scheduled, started or collected."""


def repair(kubeconfig: str | Path, *, needed: bool = False) -> str:
    """Say which members of a simulated cluster do not run, and how to start them; empty for other clusters.

    With ``needed``, only of those without which nobody answers.
    """
    if not isinstance(kubeconfig, Path):
        return ""
    cluster = SimulatedCluster(kubeconfig.parent)
    if cluster.kubeconfig != kubeconfig.resolve() or not cluster.folder.is_dir():
        return ""
    stopped = [member.name for member in cluster.status() if not member.running]
    if needed:
        stopped = [name for name in stopped if name in _NEEDED]
    if not stopped:
        return ""
    folder = kubeconfig.resolve().parent
    option = "" if folder.name == STATE_DIR else f" --state-dir {shlex.quote(str(folder))}"
    verb = "do" if len(stopped) > 1 else "does"
    return (
        f"{' and '.join(stopped)} of the simulated cluster {verb} not run; `workbench cluster start{option}` starts "
        "what is missing, with the data that it had"
    )
