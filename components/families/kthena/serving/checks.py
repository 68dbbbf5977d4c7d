"""Checks of a ModelServing, and of features that LeaderWorkerSets lack (Kthena spec 7)."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from ....contract.findings.ids import RuleId
from ....engines.pairs.checks import handover_rule
from ....engines.pairs.faults import Side, pair_faults
from ....engines.pairs.rows import Stage
from ....fleet.arguments import check_arguments as check_server_arguments
from ....fleet.instances import fabrics, instance, is_accelerator
from ....fleet.library import Library
from ....fleet.placement import requests_of
from ....fleet.words import WorkloadChoice
from ..autoscaling.targets import scaling_of
from ..generated import Generated
from ..names import SERVING_LABEL
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding
from ..types.values import is_image
from .context import GROUP, ServingContext
from .groups import GROUP_ANNOTATION, SCHEDULER, TASK_ANNOTATION, has_pod_groups, is_gang, is_one_set, pods_per_group
from .pods import SPREAD
from .roles import PAIR, RolePods, stages_of

MAX_SETS = 1000
"""LeaderWorkerSets of one ModelServing. Each is an object that every preview compares."""
_OPERATOR = "use realization 'operator'"
_RESERVED_LABELS = frozenset(
    f"{SERVING_LABEL}/{name}" for name in ("name", "group-name", "role", "role-id", "entry", "revision")
)


def check_pod_metadata(serving: ServingContext) -> None:
    """Reject labels and annotations that Kthena reserves, and malformed images."""
    for path, role in serving.roles:
        for part, template in (("entryTemplate", role.entry_template), ("workerTemplate", role.worker_template)):
            if template is None:
                continue
            metadata = f"{path}.{part}.metadata"
            for key in (template.metadata and template.metadata.labels) or ():
                if key in _RESERVED_LABELS:
                    reason = "is reserved: Kthena sets it to find its pods; remove it"
                    serving.findings.error(f"{metadata}.labels[{key}]", reason, RuleId.NAMES_TAKEN)
            for key in (template.metadata and template.metadata.annotations) or ():
                if key in (GROUP_ANNOTATION, TASK_ANNOTATION) and is_gang(serving):
                    reason = "is reserved: it is set for the gang of the serving group; remove it"
                    serving.findings.error(f"{metadata}.annotations[{key}]", reason, RuleId.NAMES_TAKEN)
            # V3 of Kthena spec 1.4 is checked here: a CEL rule over whole pods would exceed the API server's budget.
            for field in ("initContainers", "containers"):
                for index, container in enumerate((template.spec or {}).get(field) or ()):
                    image = container.get("image") or ""
                    if not is_image(image):
                        reason = f"must be an image reference, without a space, found {image!r}"
                        serving.findings.error(f"{path}.{part}.spec.{field}[{index}].image", reason)


def check_replicas_owner(serving: ServingContext, library: Library) -> None:
    """Warn about explicit replicas of a ModelServing that a binding or policy scales."""
    if "replicas" not in serving.spec.model_fields_set or isinstance(serving.source, Generated):
        return
    owner = _scalers_by_target(library, serving.namespace).get(serving.name)
    if owner is not None:
        reason = f"has no effect: the autoscaler of {owner} owns the replicas; remove it"
        serving.findings.warn("spec.replicas", reason, RuleId.FIELD_NO_EFFECT)


@functools.lru_cache(maxsize=4)
def _scalers_by_target(library: Library, namespace: str) -> Mapping[str, str]:
    """Return the binding or policy that scales each ModelServing of a namespace, by its name."""
    scalers: dict[str, str] = {}
    for kind in (AutoscalingPolicyBinding, AutoscalingPolicy):
        for name, resource in sorted(library.all(kind, namespace).items()):
            assert isinstance(resource, AutoscalingPolicyBinding | AutoscalingPolicy)  # noqa: S101  the index is by kind
            for target in scaling_of(resource).targets:
                if target.spec.sub_targets is None:
                    scalers.setdefault(target.name, f"{kind.__name__} {name!r}")
    return scalers


def check_native(serving: ServingContext) -> None:
    """Report features that LeaderWorkerSets do not support.

    Raises:
        Unrenderable: there would be more than ``MAX_SETS`` of them.
    """
    findings, group, spec = serving.findings, serving.group, serving.spec
    if serving.options.workload == WorkloadChoice.DEPLOYMENT:
        findings.error("spec", "requires a LeaderWorkerSet; set workload to 'auto' or 'lws'", RuleId.SETTINGS)
    if group.restart_grace_period_seconds:
        reason = f"has no effect natively: failed pods are replaced at once; remove it, or {_OPERATOR}"
        findings.warn(f"{GROUP}.restartGracePeriodSeconds", reason, RuleId.FIELD_NO_EFFECT)
    _check_rollout(serving)
    _check_field_references(serving)
    _check_scheduled_together(serving)
    if is_one_set(group):
        return

    instances = sum(role.replicas for role in group.roles)
    if instances * serving.replicas > MAX_SETS:
        reason = (
            f"results in {instances * serving.replicas} role instances in {serving.replicas} serving groups; "
            f"natively each is a LeaderWorkerSet, with a limit of {MAX_SETS}; lower the replicas, or {_OPERATOR}"
        )
        raise findings.fail("spec.replicas", reason, RuleId.NATIVE_UNSUPPORTED)
    if spec.recovery_policy == "ServingGroupRecreate" and instances > 1:
        reason = (
            "needs Kthena's controller: natively a failed pod restarts only its role instance, like RoleRecreate; "
            f"set RoleRecreate, or {_OPERATOR}"
        )
        findings.error("spec.recoveryPolicy", reason, RuleId.NATIVE_UNSUPPORTED)
    if spec.topology_spread_constraints:
        reason = (
            "has no effect natively if a serving group has several role instances or a gang, whose pods run in "
            "several places; add the constraints to the pod templates"
        )
        findings.warn(SPREAD, reason, RuleId.FIELD_NO_EFFECT)
    if serving.partition:
        reason = (
            f"needs Kthena's controller: natively a change of the pod templates updates all {serving.replicas} "
            f"serving groups; remove it, or {_OPERATOR}"
        )
        path = "spec.rolloutStrategy.rollingUpdateConfiguration.partition"
        findings.error(path, reason, RuleId.NATIVE_UNSUPPORTED)
    elif serving.replicas > 1:
        reason = (
            f"natively a change of the pod templates restarts all {serving.replicas} serving groups at once, "
            f"regardless of rolloutStrategy; use one ModelServing per group, or {_OPERATOR}"
        )
        findings.warn("spec.replicas", reason, RuleId.NATIVE_DIFFERS)


def _check_rollout(serving: ServingContext) -> None:
    """Report a partition that keeps every group from being updated, and updates of role instances."""
    rollout = "spec.rolloutStrategy"
    if serving.replicas and serving.partition >= serving.replicas:
        reason = (
            f"keeps every serving group from being updated: it is not below the {serving.replicas} replicas; lower "
            "it to update them"
        )
        path = f"{rollout}.rollingUpdateConfiguration.partition"
        serving.findings.warn(path, reason, RuleId.FIELD_NO_EFFECT)
    if serving.rolls_roles and is_one_set(serving.group) and serving.replicas > 1:
        reason = (
            "natively serving groups of one role instance are updated one after another, while Kthena's controller "
            f"recreates the instances of all groups at once; remove it, or {_OPERATOR}"
        )
        serving.findings.warn(f"{rollout}.type", reason, RuleId.NATIVE_DIFFERS)
    for path, role in serving.roles:
        if role.max_unavailable is not None:
            reason = (
                "has no effect natively: a change of the pod templates restarts all instances of a role at once; "
                f"remove it, or {_OPERATOR}"
            )
            serving.findings.warn(f"{path}.maxUnavailable", reason, RuleId.FIELD_NO_EFFECT)


def _check_field_references(serving: ServingContext) -> None:
    """Warn about variables and files with labels and annotations that pods natively lack, so that they are empty."""
    index = "metadata.labels['leaderworkerset.sigs.k8s.io/group-index']"
    revision = "metadata.labels['leaderworkerset.sigs.k8s.io/template-revision-hash']"
    instead = {f"metadata.labels['{SERVING_LABEL}/{name}']": revision for name in ("revision", "role-template-hash")}
    if is_one_set(serving.group):
        # All groups of one LeaderWorkerSet share a template, so that no label can differ between them.
        instead |= {f"metadata.labels['{SERVING_LABEL}/{name}']": index for name in ("group-name", "role-id")}
    if not has_pod_groups(serving):
        instead |= {f"metadata.annotations['{name}']": index for name in (GROUP_ANNOTATION, TASK_ANNOTATION)}
    for path, role in serving.roles:
        for part, template in (("entryTemplate", role.entry_template), ("workerTemplate", role.worker_template)):
            for field, reference in _field_references((template and template.spec) or {}):
                if reference in instead:
                    reason = f"is empty natively: pods have no {reference}; use {instead[reference]}, or {_OPERATOR}"
                    serving.findings.warn(f"{path}.{part}.spec.{field}", reason, RuleId.NATIVE_DIFFERS)


def _field_references(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pod that variables and files of volumes contain, each with its path."""
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for position, variable in enumerate(container.get("env") or ()):
                reference = (variable.get("valueFrom") or {}).get("fieldRef")
                if reference:
                    path = f"{kind}[{index}].env[{position}].valueFrom.fieldRef.fieldPath"
                    yield path, reference.get("fieldPath") or ""
    for index, volume in enumerate(spec.get("volumes") or ()):
        sources = {f"volumes[{index}]": volume}
        for position, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            sources[f"volumes[{index}].projected.sources[{position}]"] = source
        for path, source in sources.items():
            for place, item in enumerate((source.get("downwardAPI") or {}).get("items") or ()):
                reference = item.get("fieldRef")
                if reference:
                    field = f"{path}.downwardAPI.items[{place}].fieldRef.fieldPath"
                    yield field, reference.get("fieldPath") or ""


def _check_scheduled_together(serving: ServingContext) -> None:
    """Warn about groups that Kthena makes gangs because of their scheduler, and that natively are none."""
    pods = pods_per_group(serving.group)
    if serving.starts_groups and pods > 1 and not is_gang(serving):
        serving.findings.warn(
            "spec.schedulerName",
            f"is {SCHEDULER}, with which Kthena schedules the {pods} pods of a serving group together; natively they "
            "are scheduled one by one, and hold GPUs while others are Pending; add template.gangPolicy: {}, or set "
            "default-scheduler",
            RuleId.NATIVE_DIFFERS,
        )


def check_scheduling(serving: ServingContext, roles: list[RolePods]) -> None:
    """Warn about schedulers that ignore gangs, and about accelerator pods that do not select an instance type."""
    for role in roles:
        for path, template in role.templates:
            scheduler = template.spec.get("schedulerName")
            if has_pod_groups(serving) and scheduler != SCHEDULER and serving.options.realization.is_native:
                reason = f"is {scheduler!r}, which ignores the gang of the serving group; remove it"
                is_own = scheduler == serving.spec.scheduler_name
                field = "spec.schedulerName" if is_own else f"{path}.spec.schedulerName"
                if not is_own or role is roles[0]:
                    serving.findings.warn(field, reason, RuleId.NATIVE_DIFFERS)
            devices = {key: amount for key, amount in template.requests.items() if is_accelerator(key)}
            if devices and not any(choice.instance_type for choice in template.choices):
                key, amount = next(iter(devices.items()))
                remedy = template.node_field.remedy.format(type="...")
                reason = (
                    f"the pod requests {amount} {key} but does not select an instance type, so it gets no node group "
                    f"and its price is unknown; {remedy}"
                )
                serving.findings.warn(f"{path}.spec.nodeSelector", reason, RuleId.NODES_TYPE_UNNAMED)


def check_arguments(serving: ServingContext, roles: list[RolePods]) -> None:
    """Check the arguments of the serving containers against the versions of their engines."""
    for role in roles:
        check_server_arguments(role.server, role.container, serving.findings)


def check_pairs(serving: ServingContext, roles: list[RolePods]) -> None:
    """Report prefill roles that cannot transfer their KV cache to a decode role, or only slowly."""
    if len(roles) < len(PAIR):
        return
    stages = stages_of(roles)
    reported = set()
    for prefill in (role for role in roles if stages.get(role.name) is Stage.PREFILL):
        for decode in (role for role in roles if stages.get(role.name) is Stage.DECODE):
            for fault in pair_faults(_side(prefill), _side(decode)):
                path = (prefill if fault.role is Stage.PREFILL else decode).line_path
                if (path, fault.reason) not in reported:
                    serving.findings.record(path, fault.reason, fault.severity, handover_rule(fault.severity))
                reported.add((path, fault.reason))


def _side(role: RolePods) -> Side:
    variables = {item["name"]: str(item.get("value") or "") for item in role.container.get("env") or ()}
    if not fabrics().keys().isdisjoint(requests_of(role.entry.spec)):
        has_efa: bool | None = True
    else:
        nodes = [instance(choice.instance_type or "") for choice in role.entry.choices]
        is_unknown = not nodes or None in nodes
        has_efa = None if is_unknown else all(node.fabric_interfaces > 0 for node in nodes if node)
    return Side(role.server.line, has_efa, variables, is_whole=not role.container.get("envFrom"))
