"""Checks of settings that llmaz's operator ignores or breaks, before a resource is left to it."""

from collections.abc import Iterator

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.problems import field_path
from ...engines.shell import is_shell_word
from ...fleet.options import Options
from ...fleet.placement import taints, tolerates
from .flavors import node_choices
from .loaders import RUNNER
from .models import source_of
from .workload import DesiredWorkload

_OPTIONS = ("overrides", "cache", "workload", "runtimes", "grace_seconds")
_TEMPLATE = "spec.workloadTemplate"
_DEFAULT_RESTART = "RecreateGroupOnPodRestart"
Fault = tuple[str, str]
"""Path of a field, and how the operator mishandles it."""


def check_for_operator(desired: DesiredWorkload, path: str, options: Options, findings: Findings) -> None:
    """Report options and fields that the operator ignores or breaks (llmaz spec 1.3, 2.6, 2.7).

    Args:
        desired: The workload.
        path: The field to report problems of flavors at.
        options: Rendering options.
        findings: Receives the problems.
    """
    for name in _OPTIONS:
        if getattr(options, name) != getattr(Options(), name):
            reason = (
                f"the option {name!r} applies only to realization 'native'; the llmaz operator does not support it"
            )
            findings.error("", reason, RuleId.SETTINGS)
    pending = [] if options.tolerates_devices else list(_untolerated(desired, path))
    for field, reason in (*_errors(desired, path), *pending):
        findings.error(
            field, f"the llmaz operator {reason}, or use realization 'native'", RuleId.OPERATOR_UNSUPPORTED
        )
    for field, reason in _warnings(desired, "" if pending else path):
        findings.warn(field, f"the llmaz operator {reason}, or use realization 'native'", RuleId.OPERATOR_DIFFERS)


def _errors(desired: DesiredWorkload, path: str) -> Iterator[Fault]:
    parallelism = desired.parallelism
    if (parallelism.tensor or 1) > 1 or (parallelism.pipeline or 1) > 1:
        yield path, "ignores the flavor's params TP and PP; use a Service with explicit flags and size"
    if desired.scaling and desired.scaling.maximum is None:
        yield "spec.elasticConfig.maxReplicas", "requires it; set it"
    if desired.by_hand and desired.size > 1:
        yield (
            f"{_TEMPLATE}.size",
            "creates the workers only once the leader is ready (startupPolicy LeaderReady), but engines are ready "
            "only once their workers have joined; use one pod with all accelerators of a replica",
        )
    for field, model in zip(desired.claim.paths, desired.claim.models, strict=True):
        source, title = source_of(model), f"OpenModel {model.metadata.name!r}"
        if source.scheme == "host" and not desired.claim.skip_loader:
            yield (
                field,
                f"adds two volumes of one name for {source.uri!r} of {title}, which the API server rejects on each "
                "attempt; take the weights from a hub or an object store",
            )
        if source.scheme == "ollama" and not is_shell_word(source.address):
            yield (
                field,
                f"writes {source.address!r} of {title} into a shell script, which would execute parts of it; correct "
                "it",
            )


def _untolerated(desired: DesiredWorkload, path: str) -> Iterator[Fault]:
    """Yield node taints that keep the pods Pending, because the operator adds no tolerations."""
    choices = node_choices(desired.claim.flavors)
    node_taints = (taint for choice in choices for taint in taints(choice.instance_type))
    for taint in {taint["key"]: taint for taint in node_taints}.values():
        # Only pods with the model runner get the flavor's limits, and so request its devices.
        lacking = [
            part
            for part, template in desired.templates.items()
            if any(container["name"] == RUNNER for container in template["spec"]["containers"])
            and not any(tolerates(toleration, taint) for toleration in template["spec"].get("tolerations") or ())
        ]
        effect = f"adds no toleration, but the nodes have the taint {taint['key']}={taint['value']}:NoSchedule, so "
        entry = f"{{key: {taint['key']}, operator: Exists}}"
        if lacking and not desired.by_hand:
            yield (
                path,
                f"{effect}the pods stay Pending; use a Service whose pod templates have tolerations: [{entry}]",
            )
        elif lacking:
            yield from (
                (f"{_TEMPLATE}.{part}.spec.tolerations", f"{effect}its pods stay Pending; add {entry}")
                for part in lacking
            )


def _warnings(desired: DesiredWorkload, path: str) -> Iterator[Fault]:
    """Yield fields that the operator drops although the pods start; an empty path skips the flavors."""
    if path and any(choice.labels for choice in node_choices(desired.claim.flavors)):
        yield (
            path,
            "sets no affinity for flavors, so their order, labels and INSTANCE-TYPE take effect only with its own "
            "scheduler; install that",
        )
    for key in desired.annotations:
        yield field_path(("metadata", "annotations", key)), "does not pass it to the LeaderWorkerSet; remove it"
    if desired.by_hand and desired.template.get("restartPolicy", _DEFAULT_RESTART) != _DEFAULT_RESTART:
        yield f"{_TEMPLATE}.restartPolicy", f"ignores it, so {_DEFAULT_RESTART} applies; remove it"
    if (desired.rollout.get("rollingUpdateConfiguration") or {}).get("partition"):
        field = "spec.rolloutStrategy.rollingUpdateConfiguration.partition"
        yield field, "ignores it, so every replica is updated; remove it"
    if desired.template.get("subGroupPolicy"):
        yield f"{_TEMPLATE}.subGroupPolicy", "ignores it; remove it"
