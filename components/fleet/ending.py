"""How the pods of a workload end."""

from ..engines.draining import finishing_seconds as finishing_seconds_of
from .workloads import Workload

DEFAULT_GRACE = 30
"""Kubernetes' default ``terminationGracePeriodSeconds``."""


def grace_seconds(workload: Workload) -> int:
    """Return the termination grace period of the pods that receive requests."""
    seconds = workload.front["spec"].get("terminationGracePeriodSeconds")
    return DEFAULT_GRACE if seconds is None else int(seconds)


def finishing_seconds(workload: Workload) -> float:
    """Return how long requests in progress have after the deletion of a pod, until they are aborted.

    The pods of an operator have the hooks that it renders: those of llmaz's BackendRuntimes, and none of LLMKube.
    """
    return finishing_seconds_of(workload.container, workload.server.line, grace_seconds(workload))
