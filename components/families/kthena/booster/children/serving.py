"""The ModelServing of a backend (Kthena spec 2.2, 2.5)."""

from collections.abc import Sequence

from .....fleet.objects import Object, new_object
from ...names import WORKLOAD_API
from ..setup import Part, RoleOf
from .command import Commands, commands_of
from .labels import labels_of, metadata_of
from .pods import DRAIN_SECONDS, drain_of, entry_spec, worker_spec
from .weights import Weights, weights_of

LEADER, PREFILL, DECODE = "leader", "prefill", "decode"
ROLES = {"server": LEADER, PREFILL: PREFILL, DECODE: DECODE}
"""Name of the role of each type of workers."""
GRACE_SECONDS = 60
"""How long a pod that failed may take to come back by itself before its role starts anew."""
LOADING_SECONDS = 3600
"""How long an engine may take to load its weights before its pod starts anew."""
_SCHEDULER = "volcano"
"""What every ModelServing must say (Kthena spec V12); pods need it only in gangs."""


def roles_of(part: Part) -> tuple[RoleOf, ...]:
    """Return the roles of a backend, prefill before decode."""
    wanted = (PREFILL, DECODE) if part.is_disaggregated else ("server",)
    return tuple(RoleOf(part, ROLES[kind], *part.workers[kind]) for kind in wanted if kind in part.workers)


def pods_of(part: Part) -> tuple[tuple[tuple[RoleOf, Commands], ...], Object]:
    """Return the roles of a backend with what their pods run, and its ModelServing."""
    weights, roles = weights_of(part), roles_of(part)
    running = tuple(zip(roles, commands_of(roles, weights), strict=True))
    return running, _serving(part, running, weights)


def _serving(part: Part, roles: Sequence[tuple[RoleOf, Commands]], weights: Weights) -> Object:
    labels = labels_of(part.model, part.namespace, part.backend.name)
    template: Object = {"roles": [_role(role, commands, weights, labels) for role, commands in roles]}
    if part.setup.runtime:
        template = {"restartGracePeriodSeconds": GRACE_SECONDS, **template}
    spec: Object = {"replicas": part.backend.min_replicas, "schedulerName": _SCHEDULER, "template": template}
    if part.setup.runtime and any(role.pods == 1 for role, _ in roles):
        # With RoleRecreate, the default, the controllers never replace the only pod of an instance (D-13).
        spec["recoveryPolicy"] = "ServingGroupRecreate"
    body = new_object(WORKLOAD_API, "ModelServing", part.name, part.namespace, spec)
    if part.setup.applied:
        body["metadata"] = metadata_of(part.name, part.namespace, labels, spec)
    else:
        body["metadata"]["labels"] = labels
    return body


def _role(role: RoleOf, commands: Commands, weights: Weights, labels: dict[str, str]) -> Object:
    entry = _pair_member(role, commands, weights) if role.part.is_disaggregated else _leader(role, commands, weights)
    body = {
        "name": role.name,
        "replicas": role.replicas,
        "entryTemplate": {"metadata": {"labels": labels}, "spec": entry},
        "workerReplicas": role.pods - 1,
    }
    # Without workers no template of them: the controllers would make a Service for it, which keeps them from
    # replacing a single pod that failed (D-13).
    return body if role.pods == 1 else {**body, "workerTemplate": {"spec": worker_spec(role, commands, weights)}}


def _leader(role: RoleOf, commands: Commands, weights: Weights) -> Object:
    """Return the pod of a backend that is one role; it ends once its requests are done."""
    probe = {
        "httpGet": _health(role, commands) | {"scheme": "HTTP"},
        "initialDelaySeconds": 90,
        "periodSeconds": 5,
        "timeoutSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    spec = entry_spec(
        role,
        commands,
        weights,
        "engine",
        readinessProbe=probe,
        lifecycle=drain_of(role.part.started.gauges, commands.port),
    )
    return {"terminationGracePeriodSeconds": DRAIN_SECONDS, **spec}


def _pair_member(role: RoleOf, commands: Commands, weights: Weights) -> Object:
    """Return the pod of prefill or decode."""
    health = {"httpGet": _health(role, commands)}
    ready = {**health, "initialDelaySeconds": 5, "periodSeconds": 5, "failureThreshold": 3}
    return entry_spec(
        role,
        commands,
        weights,
        "vllm",
        imagePullPolicy="IfNotPresent",
        # Large weights load for longer than the 105 seconds after which liveness alone would restart the container.
        startupProbe={**health, "periodSeconds": 10, "failureThreshold": LOADING_SECONDS // 10},
        readinessProbe=ready,
        livenessProbe={**ready, "initialDelaySeconds": 90},
    )


def _health(role: RoleOf, commands: Commands) -> Object:
    return {"path": role.part.started.known.health, "port": commands.port}
