"""What Kthena's controllers cannot be told, do not do or do wrong: reported before it is left to them.

Kthena v0.1.0; the numbers are those of the register of its defects (Kthena spec 10).
"""

from collections.abc import Iterator, Sequence

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...fleet.options import Options
from ...fleet.placement import taints, tolerates
from .serving.asked import GROUP, AskedServing
from .serving.gang import SCHEDULER
from .serving.groups import is_gang, pods_of_group, size_of
from .serving.pods import Template
from .serving.roles import RolePods
from .serving.spread import PATH as SPREAD
from .types.model_serving import RollingUpdateConfiguration

OPERATOR = "kthena"
_OPTIONS = ("overrides", "scheduler_name")
_ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
_ORDERED_AS_TEXT = 10
"""Groups up to here are in the same order by their names as by their numbers."""
Fault = tuple[str, str]
"""Path of a field, and what the controllers do to it."""


def check_options_for_operator(options: Options, findings: Findings) -> None:
    """Refuse options that do not reach what the controllers make."""
    for name in _OPTIONS:
        if getattr(options, name) != getattr(Options(), name):
            reason = (
                f"the option {name!r} applies only to realization 'native'; Kthena's controllers do not support it"
            )
            findings.error("", reason, RuleId.SETTINGS)


def check_serving_for_operator(asked: AskedServing, roles: Sequence[RolePods]) -> None:
    """Refuse what the controller of ModelServings ignores or breaks, instead of dropping it silently."""
    check_options_for_operator(asked.options, asked.findings)
    for path, reason in (*_faults(asked), *_of_templates(asked, roles)):
        asked.findings.error(
            path, f"Kthena's controller {reason}, or use realization 'native'", RuleId.OPERATOR_UNSUPPORTED
        )
    for path, reason in (*_doubts(asked), *_of_recovery(asked)):
        asked.findings.warn(
            path, f"Kthena's controller {reason}, or use realization 'native'", RuleId.OPERATOR_DIFFERS
        )


def _faults(asked: AskedServing) -> Iterator[Fault]:
    group = asked.group
    if group.network_topology is not None and group.gang_policy is None:
        yield f"{GROUP}.networkTopology", "crashes on it without a gangPolicy (D-11); add gangPolicy: {}"
    for path, role in asked.roles:
        for part, template in (("entryTemplate", role.entry_template), ("workerTemplate", role.worker_template)):
            if template and template.metadata and template.metadata.annotations:
                field = f"{path}.{part}.metadata.annotations"
                yield field, "crashes on annotations of templates (D-10); remove them"
    if asked.serving.spec.recovery_policy == "None":
        yield (
            "spec.recoveryPolicy",
            "deletes a pod that failed and makes no other one with None (D-12); write ServingGroupRecreate",
        )


def _of_templates(asked: AskedServing, roles: Sequence[RolePods]) -> Iterator[Fault]:
    for role in roles:
        for part, template in (("entryTemplate", role.entry), ("workerTemplate", role.worker)):
            if template is not None and not asked.options.tolerates_devices:
                yield from _untolerated(f"{role.path}.{part}.spec.tolerations", template)
        # Entry pods get the scheduler of the ModelServing, workers keep their own (v0.1.0, GenerateWorkerPod).
        if is_gang(asked.group) and role.worker and role.worker.spec.get("schedulerName") != SCHEDULER:
            lacks = f"leaves the workers of a gang to the default scheduler (D-09); write {SCHEDULER}"
            yield f"{role.path}.workerTemplate.spec.schedulerName", lacks


def _untolerated(path: str, template: Template) -> Iterator[Fault]:
    """Yield taints of the nodes that keep the pods Pending: the controller adds no toleration."""
    own = template.spec.get("tolerations") or ()
    for taint in {t["key"]: t for choice in template.choices for t in taints(choice.instance_type)}.values():
        if not any(tolerates(each, taint) for each in own):
            what = f"adds no toleration, but the nodes have the taint {taint['key']}={taint['value']}:NoSchedule, so"
            yield path, f"{what} the pods stay Pending; add {{key: {taint['key']}, operator: Exists}}"


def _doubts(asked: AskedServing) -> Iterator[Fault]:
    """Yield what is ignored where the pods still start."""
    strategy = asked.serving.spec.rollout_strategy
    stated = (strategy and strategy.rolling_update_configuration) or RollingUpdateConfiguration()
    for field, value, usual in (("maxUnavailable", stated.max_unavailable, 1), ("maxSurge", stated.max_surge, 0)):
        if value != usual:
            yield f"{_ROLLOUT}.{field}", "updates one serving group at a time whatever this says (D-21); remove it"
    if stated.partition and asked.replicas > _ORDERED_AS_TEXT:
        yield (
            f"{_ROLLOUT}.partition",
            f"counts serving groups in the order of their names as text, where 10 comes before 2; keep at most "
            f"{_ORDERED_AS_TEXT}",
        )
    if asked.serving.spec.topology_spread_constraints:
        yield SPREAD, "applies none of them (D-21); write them into the pod templates"


def _of_recovery(asked: AskedServing) -> Iterator[Fault]:
    """Yield roles whose pods are not made again: that waits for another pod of the role, or group, to end."""
    alone = [role.name for _, role in asked.roles if size_of(role) == 1 and role.replicas]
    policy = asked.serving.spec.recovery_policy
    if policy == "RoleRecreate" and alone:
        never = f"does not replace the only pod of a role instance that failed: {', '.join(alone)} (D-13)"
        yield "spec.recoveryPolicy", f"{never}; write ServingGroupRecreate"
    elif policy == "ServingGroupRecreate" and pods_of_group(asked.group) == 1:
        path = next(path for path, role in asked.roles if role.replicas)
        if any(role.worker_template is not None for _, role in asked.roles):
            yield (
                f"{path}.workerTemplate",
                "does not replace the only pod of a serving group that failed as long as it has a Service, which it "
                "gets for a template of workers (D-13); remove it",
            )
