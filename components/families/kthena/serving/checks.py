"""What of a ModelServing cannot live without Kthena's controller, or is lost (Kthena spec 7)."""

import functools
from collections.abc import Mapping

from ....contract.findings.ids import RuleId
from ....fleet.instances import accelerator_resources
from ....fleet.library import Library
from ....fleet.words import WorkloadChoice
from ..autoscaling.aims import aims_of
from ..made import Made
from ..names import SERVING_LABEL
from ..rules.images import bad_images
from ..types import AutoscalingPolicyBinding
from ..types.model_serving import PodTemplateSpec, RollingUpdateConfiguration
from .asked import GROUP, AskedServing
from .gang import GROUP_ANNOTATION, SCHEDULER, TASK_ANNOTATION
from .groups import has_pod_groups, is_gang, is_one_set
from .pods import Template
from .roles import RolePods
from .spread import PATH as SPREAD

MOST_SETS = 1000
"""LeaderWorkerSets of one ModelServing. Each is an object that is compared in every preview."""
_OPERATOR = "use realization 'operator'"
_ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
_LABELS = frozenset(
    f"{SERVING_LABEL}/{name}" for name in ("name", "group-name", "role", "role-id", "entry", "revision")
)


def check_pods(asked: AskedServing) -> None:
    """Report what must not be written of pods, whoever makes them."""
    for path, role in asked.roles:
        for part, template in (("entryTemplate", role.entry_template), ("workerTemplate", role.worker_template)):
            if template is not None:
                _check_metadata(asked, f"{path}.{part}.metadata", template)
                for place, reason in bad_images(template.spec or {}):
                    asked.findings.error(f"{path}.{part}.spec.{place}", reason)


def _check_metadata(asked: AskedServing, path: str, template: PodTemplateSpec) -> None:
    metadata = template.metadata
    if metadata is None:
        return
    for key in metadata.labels or ():
        if key in _LABELS:
            reason = "is set by Kthena, which finds its pods by it; remove it"
            asked.findings.error(f"{path}.labels[{key}]", reason, RuleId.NAMES_TAKEN)
    for key in metadata.annotations or ():
        if key in (GROUP_ANNOTATION, TASK_ANNOTATION) and is_gang(asked.group):
            reason = "is set for the gang of the serving group; remove it"
            asked.findings.error(f"{path}.annotations[{key}]", reason, RuleId.NAMES_TAKEN)


def check_native(asked: AskedServing) -> None:
    """Report what LeaderWorkerSets do not do.

    Raises:
        Unrenderable: there would be too many of them.
    """
    findings, group = asked.findings, asked.group
    if asked.options.workload == WorkloadChoice.DEPLOYMENT:
        findings.error("spec", "requires a LeaderWorkerSet; set workload to 'auto' or 'lws'", RuleId.SETTINGS)
    if group.restart_grace_period_seconds:
        findings.warn(
            f"{GROUP}.restartGracePeriodSeconds",
            f"has no effect natively: pods that failed are made again at once; remove it, or {_OPERATOR}",
            RuleId.FIELD_NO_EFFECT,
        )
    if not is_one_set(group):
        _check_many(asked)


def check_owned(asked: AskedServing, library: Library) -> None:
    """Report a number of serving groups that somebody wrote and an autoscaler decides."""
    if "replicas" not in asked.serving.spec.model_fields_set or isinstance(asked.source, Made):
        return
    binding = _bindings(library, asked.namespace).get(asked.name)
    if binding is not None:
        owner = f"the autoscaler of AutoscalingPolicyBinding {binding!r}"
        asked.findings.warn(
            "spec.replicas", f"has no effect: {owner} owns the replicas; remove it", RuleId.FIELD_NO_EFFECT
        )


@functools.lru_cache(maxsize=4)
def _bindings(library: Library, namespace: str) -> Mapping[str, str]:
    """Return which binding of a namespace scales a ModelServing, by its name."""
    found: dict[str, str] = {}
    for name, binding in sorted(library.all(AutoscalingPolicyBinding, namespace).items()):
        for aim in aims_of(binding):
            found.setdefault(aim.name, name)
    return found


def _check_many(asked: AskedServing) -> None:
    instances = sum(role.replicas for role in asked.group.roles)
    if instances * asked.replicas > MOST_SETS:
        reason = (
            f"makes {instances * asked.replicas} role instances in {asked.replicas} serving groups, and natively "
            f"each is a LeaderWorkerSet, of which there may be {MOST_SETS}; lower the replicas, or {_OPERATOR}"
        )
        raise asked.findings.fail("spec.replicas", reason, RuleId.NATIVE_UNSUPPORTED)
    if asked.serving.spec.recovery_policy == "ServingGroupRecreate" and instances > 1:
        reason = (
            "needs Kthena's controller: natively only the role instance whose pod failed is made again, as with "
            f"RoleRecreate; write RoleRecreate, or {_OPERATOR}"
        )
        asked.findings.error("spec.recoveryPolicy", reason, RuleId.NATIVE_UNSUPPORTED)
    if asked.serving.spec.topology_spread_constraints:
        reason = (
            "has no effect natively where a serving group has several role instances or a gang: its pods are in "
            "several places; write the constraints into the pod templates"
        )
        asked.findings.warn(SPREAD, reason, RuleId.FIELD_NO_EFFECT)
    _check_rollout(asked)


def _check_rollout(asked: AskedServing) -> None:
    strategy = asked.serving.spec.rollout_strategy
    stated = (strategy and strategy.rolling_update_configuration) or RollingUpdateConfiguration()
    if stated.partition:
        reason = (
            f"needs Kthena's controller: natively a change of the pods reaches all {asked.replicas} serving groups; "
            f"remove it, or {_OPERATOR}"
        )
        asked.findings.error(f"{_ROLLOUT}.partition", reason, RuleId.NATIVE_UNSUPPORTED)
    elif asked.replicas > 1:
        reason = (
            f"has {asked.replicas} serving groups, which natively a change of the pods starts anew all at once, "
            f"whatever rolloutStrategy says; use a ModelServing for each, or {_OPERATOR}"
        )
        asked.findings.warn("spec.replicas", reason, RuleId.NATIVE_DIFFERS)


def check_placed(asked: AskedServing, roles: list[RolePods]) -> None:
    """Report pods that no scheduler, or no node that is made for them, would take as is meant."""
    for role in roles:
        for part, template in (("entryTemplate", role.entry), ("workerTemplate", role.worker)):
            if template is not None:
                _check_template(asked, f"{role.path}.{part}.spec", template)


def _check_template(asked: AskedServing, path: str, template: Template) -> None:
    own = template.spec.get("schedulerName")
    if has_pod_groups(asked.group) and own != SCHEDULER and asked.options.realization.is_native:
        reason = f"is {own!r}, which knows nothing of the gang of the serving group; remove it"
        asked.findings.warn(f"{path}.schedulerName", reason, RuleId.NATIVE_DIFFERS)
    wanted = {key: amount for key, amount in template.requests.items() if key in accelerator_resources()}
    if wanted and not any(choice.instance_type for choice in template.choices):
        key, amount = next(iter(wanted.items()))
        remedy = template.node_field.remedy.format(type="...")
        reason = (
            f"the pod requests {amount} {key} but does not select an instance type, so it gets no node group and its "
            f"price is unknown; {remedy}"
        )
        asked.findings.warn(f"{path}.nodeSelector", reason, RuleId.NODES_TYPE_UNNAMED)
