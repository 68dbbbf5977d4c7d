"""Whether the node pools of a cluster give pods their whole grace period when a node is drained."""

from collections.abc import Iterable, Iterator, Mapping

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.contract.texts.durations import duration_text, is_duration, seconds
from components.fleet.ending import DEFAULT_GRACE

from .describing import value_at
from .environment import ClusterNode
from .recognition import Serving
from .snapshot import ClusterSnapshot, group_of

_POOL = "NodePool"


def check_pools(
    snapshot: ClusterSnapshot, served: Iterable[Serving], nodes: Mapping[str, ClusterNode]
) -> Iterator[Problem]:
    """Report models on nodes whose pool ends a drain before the grace period of their pods.

    ``terminationGracePeriod`` of a NodePool is the time from the beginning of a drain until Karpenter deletes the
    node with all pods that are left.

    Args:
        snapshot: What was read.
        served: The models.
        nodes: The nodes by name.
    """
    limits: dict[tuple[str, str], int] = {}
    for pool in snapshot.objects:
        limit = str(value_at(pool, "spec.template.spec.terminationGracePeriod") or "")
        if pool["kind"] == _POOL and is_duration(limit):
            # The label of its nodes is named after its kind.
            limits[f"{group_of(pool)}/{_POOL.lower()}", str(pool["metadata"]["name"])] = seconds(limit)
    for serving in served if limits else ():
        short: dict[tuple[str, str], int] = {}
        for pod in serving.pods:
            spec = pod.get("spec") or {}
            node = nodes.get(str(spec.get("nodeName") or ""))
            written = spec.get("terminationGracePeriodSeconds")
            grace = written if isinstance(written, int) else DEFAULT_GRACE
            for label in node.labels.items() if node else ():
                if limits.get(label, grace) < grace:
                    short[label] = max(grace, short.get(label, 0))
        _, kind, namespace, model = serving.identity
        for label, grace in sorted(short.items()):
            yield Problem(
                file=snapshot.source,
                kind=kind,
                name=model,
                path="",
                reason=f"its pods have {grace} seconds to finish their requests (terminationGracePeriodSeconds), but "
                f"{_POOL} {label[1]} deletes a node {duration_text(limits[label])} after its drain begins "
                "(terminationGracePeriod), so that longer requests are cut off; set that to at least "
                f"{grace}s",
                severity=Severity.WARNING,
                rule=RuleId.DRAIN_SHORT,
                namespace=namespace,
            )
