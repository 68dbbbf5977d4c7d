"""The Deployment or LeaderWorkerSet (llmaz spec 2.6, design decision 5)."""

from ....contract.findings.collector import Findings, Unrenderable
from ....contract.findings.ids import RuleId
from ....fleet.objects import LWS_LABEL, Object, new_object
from ....fleet.options import Options
from ....fleet.shapes import DEPLOYMENT, LEADER_WORKER_SET, WorkloadShape
from ....fleet.words import WorkloadChoice
from .asked import Asked

_LOADING_SECONDS = 3600
"""Loading a large model takes longer than the ten minutes after which a Deployment counts as failed."""


def workload_shape(asked: Asked, options: Options, findings: Findings) -> WorkloadShape:
    """Choose by design decision 5: a Deployment where a replica is one pod, unless it asks for more."""
    group = [key for key in ("subGroupPolicy", "volumeClaimTemplates") if asked.template.get(key)]
    partition = (asked.rollout.get("rollingUpdateConfiguration") or {}).get("partition")
    reasons = [f"{asked.size} pods per replica"] * (asked.size > 1) + group + ["partition"] * bool(partition)
    reasons += [f"annotation {key}" for key in asked.annotations]
    if options.workload == WorkloadChoice.LWS or (options.workload == WorkloadChoice.AUTO and reasons):
        return LEADER_WORKER_SET
    if reasons:
        raise _needs_lws(reasons[0], findings)
    return DEPLOYMENT


def _needs_lws(reason: str, findings: Findings) -> Unrenderable:
    return findings.fail(
        "spec", f"{reason} requires a LeaderWorkerSet; set workload to 'auto' or 'lws'", RuleId.SETTINGS
    )


def _replicas(asked: Asked) -> Object:
    """The autoscaler owns the replicas where there is one (design decision 10)."""
    return {} if asked.scaling else {"replicas": asked.replicas}


def leader_worker_set(asked: Asked) -> tuple[Object, dict[str, str]]:
    """Return a LeaderWorkerSet, and the labels of its pods that take requests."""
    template = asked.template
    restart = template.get("restartPolicy")
    group: Object = {"size": asked.size}
    if restart:
        # The webhook rewrites the deprecated word; declaring it would show a difference for ever.
        group["restartPolicy"] = "None" if restart == "Default" else restart
    for key in ("leaderTemplate", "workerTemplate", "subGroupPolicy", "volumeClaimTemplates",
                "persistentVolumeClaimRetentionPolicy"):  # fmt: skip
        if template.get(key):
            group[key] = template[key]
    spec = {
        **_replicas(asked),
        # A leader that becomes ready only with its workers would wait for them for ever (llmaz spec 2.9).
        "startupPolicy": "LeaderCreated" if asked.size > 1 else "LeaderReady",
        "rolloutStrategy": asked.rollout,
        "leaderWorkerTemplate": group,
    }
    body = new_object(LEADER_WORKER_SET.api_version, LEADER_WORKER_SET.kind, asked.name, asked.namespace, spec)
    if asked.annotations:
        body["metadata"]["annotations"] = asked.annotations
    return body, {f"{LWS_LABEL}/name": asked.name, f"{LWS_LABEL}/worker-index": "0"}


def deployment(asked: Asked) -> tuple[Object, dict[str, str]]:
    """Return a Deployment, and the labels of its pods."""
    selector = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": asked.name}
    template = asked.front
    # The selector's own labels win: a pod that its Deployment does not select is refused.
    template["metadata"]["labels"] = {**selector, **template["metadata"]["labels"], **selector}
    moved = asked.rollout.get("rollingUpdateConfiguration") or {}
    spec = {
        **_replicas(asked),
        "progressDeadlineSeconds": _LOADING_SECONDS,
        "selector": {"matchLabels": selector},
        # The numbers of a LeaderWorkerSet: surging would need an idle accelerator.
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {
                "maxUnavailable": moved.get("maxUnavailable", 1),
                "maxSurge": moved.get("maxSurge", 0),
            },
        },
        "template": template,
    }
    return new_object(DEPLOYMENT.api_version, DEPLOYMENT.kind, asked.name, asked.namespace, spec), selector
