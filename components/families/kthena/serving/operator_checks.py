"""Problems of a ModelServing under Kthena's controller: unsupported, ignored and broken settings.

The numbers D-nn are those of the register of its defects (Kthena spec 10). Which releases have a defect was read in
volcano-sh/kthena at each tag (pkg/model-serving-controller).
"""

from collections.abc import Iterator, Sequence

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....fleet.options import Options
from ....fleet.placement import taints, tolerates
from ..controllers import Controllers
from .context import GROUP, ServingContext
from .groups import SCHEDULER, is_gang, pods_per_group, pods_per_instance
from .pods import SPREAD
from .roles import RolePods

_ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
_MAX_ORDERED_GROUPS = 10
"""With up to this many groups, their names sort like their numbers."""
Defect = tuple[str, str]
"""The path of a field, and how the controller mishandles it."""


def check_options_for_operator(options: Options, findings: Findings) -> None:
    """Reject options that Kthena's controllers do not apply."""
    for name in ("overrides", "scheduler_name"):
        if getattr(options, name) != getattr(Options(), name):
            reason = (
                f"the option {name!r} applies only to realization 'native'; Kthena's controllers do not support it"
            )
            findings.error("", reason, RuleId.SETTINGS)


def check_serving_for_operator(serving: ServingContext, roles: Sequence[RolePods]) -> None:
    """Reject settings that Kthena's controller breaks, and warn about those that it ignores."""
    check_options_for_operator(serving.options, serving.findings)
    for path, reason in _broken_settings(serving, roles):
        serving.findings.error(
            path, f"Kthena's controller {reason}, or use realization 'native'", RuleId.OPERATOR_UNSUPPORTED
        )
    for path, reason in _ignored_settings(serving):
        serving.findings.warn(
            path, f"Kthena's controller {reason}, or use realization 'native'", RuleId.OPERATOR_DIFFERS
        )


def _broken_settings(serving: ServingContext, roles: Sequence[RolePods]) -> Iterator[Defect]:
    group = serving.group
    controllers = Controllers.of(serving.source)
    if group.network_topology is not None and group.gang_policy is None and controllers.until("v0.1.0"):
        yield f"{GROUP}.networkTopology", "crashes on it without a gangPolicy (D-11); add gangPolicy: {}"
    for path, role in serving.roles if controllers.until("v0.3.0") else ():
        for part, template in (("entryTemplate", role.entry_template), ("workerTemplate", role.worker_template)):
            if template and template.metadata and template.metadata.annotations:
                field = f"{path}.{part}.metadata.annotations"
                yield field, "crashes on annotations of templates (D-10); remove them"
    if serving.spec.recovery_policy == "None":
        reason = "deletes a failed pod and does not replace it with None (D-12); set ServingGroupRecreate"
        yield "spec.recoveryPolicy", reason

    for pods in roles:
        for path, pod_template in pods.templates if not serving.options.tolerates_devices else ():
            tolerations = pod_template.spec.get("tolerations") or ()
            node_taints = (taint for choice in pod_template.choices for taint in taints(choice.instance_type))
            for key, taint in {taint["key"]: taint for taint in node_taints}.items():
                if not any(tolerates(toleration, taint) for toleration in tolerations):
                    yield (
                        f"{path}.spec.tolerations",
                        f"adds no toleration for the taint {key}={taint['value']}:NoSchedule of the nodes, so the "
                        f"pods stay Pending; add {{key: {key}, operator: Exists}}",
                    )
        # Entry pods get the scheduler of the ModelServing, workers keep their own (v0.1.0, GenerateWorkerPod).
        is_split = is_gang(serving) and controllers.until("v0.1.0")
        if is_split and pods.worker and pods.worker.spec.get("schedulerName") != SCHEDULER:
            reason = f"leaves the workers of a gang to the default scheduler (D-09); set {SCHEDULER}"
            yield f"{pods.path}.workerTemplate.spec.schedulerName", reason


def _ignored_settings(serving: ServingContext) -> Iterator[Defect]:
    update, controllers = serving.rolling_update, Controllers.of(serving.source)
    bounds = (("maxUnavailable", update.max_unavailable, 1), ("maxSurge", update.max_surge, 0))
    for field, value, default in bounds if controllers.until("v0.2.0") else ():
        if value != default:
            yield f"{_ROLLOUT}.{field}", "ignores it and updates one serving group at a time (D-21); remove it"
    if update.partition and serving.replicas > _MAX_ORDERED_GROUPS and controllers.until("v0.1.0"):
        yield (
            f"{_ROLLOUT}.partition",
            "sorts serving groups by name as text, where 10 comes before 2; use at most "
            f"{_MAX_ORDERED_GROUPS} replicas",
        )
    if serving.spec.topology_spread_constraints:
        yield SPREAD, "ignores them (D-21); add them to the pod templates"

    # Before the controller replaces a failed pod, it waits for another pod of the role instance, or of the serving
    # group, to end. Where there is no other pod, it waits forever.
    # v0.2.0 waits only for the Service of a role instance, v0.3.0 for nothing.
    single = [
        role.name
        for _, role in serving.roles
        if pods_per_instance(role) == 1
        and role.replicas
        and (controllers.until("v0.1.0") or role.worker_template is not None)
    ]
    policy = serving.spec.recovery_policy
    if not controllers.until("v0.2.0"):
        return
    if policy == "RoleRecreate" and single:
        yield (
            "spec.recoveryPolicy",
            f"does not replace a failed pod that is the only one of its role instance: {', '.join(single)} (D-13); "
            "set ServingGroupRecreate",
        )
    elif policy == "ServingGroupRecreate" and pods_per_group(serving.group) == 1:
        path = next(path for path, role in serving.roles if role.replicas)
        if any(role.worker_template is not None for _, role in serving.roles):
            yield (
                f"{path}.workerTemplate",
                "does not replace the only pod of a serving group while the group has a Service, which a worker "
                "template creates (D-13); remove it",
            )
