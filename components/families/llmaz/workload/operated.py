"""What llmaz's operator cannot be told, does not do or does wrong: reported before it is left to it."""

from collections.abc import Iterator

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import field_path
from ....engines.shell import is_shell_word
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.placement import taints, tolerates
from ..flavors import node_choices
from ..loaders import RUNNER
from ..models import source_of
from .asked import Asked

_OPTIONS = ("overrides", "cache", "workload", "runtimes", "grace_seconds")
_TEMPLATE = "spec.workloadTemplate"
_DEFAULT_RESTART = "RecreateGroupOnPodRestart"
Fault = tuple[str, str]
"""Path of a field, and what the operator does to it."""


def check_for_operator(asked: Asked, path: str, options: Options, findings: Findings) -> None:
    """Refuse what the operator ignores or breaks (llmaz spec 1.3, 2.6, 2.7), instead of dropping it silently.

    Args:
        asked: What is left to the operator.
        path: The field to blame for what the flavors say.
        options: How to render.
        findings: Where to report.
    """
    for name in _OPTIONS:
        if getattr(options, name) != getattr(Options(), name):
            reason = (
                f"the option {name!r} applies only to realization 'native'; the llmaz operator does not support it"
            )
            findings.error("", reason, RuleId.SETTINGS)
    pending = [] if options.tolerates_devices else list(_untolerated(asked, path))
    for where, reason in (*_faults(asked, path), *pending):
        findings.error(
            where, f"the llmaz operator {reason}, or use realization 'native'", RuleId.OPERATOR_UNSUPPORTED
        )
    for where, reason in _doubts(asked, "" if pending else path):
        findings.warn(where, f"the llmaz operator {reason}, or use realization 'native'", RuleId.OPERATOR_DIFFERS)


def _faults(asked: Asked, path: str) -> Iterator[Fault]:
    parallelism = asked.parallelism
    if (parallelism.tensor or 1) > 1 or (parallelism.pipeline or 1) > 1:
        yield path, "ignores the flavor's params TP and PP; use a Service with explicit flags and size"
    if asked.scaling and asked.scaling.maximum is None:
        yield "spec.elasticConfig.maxReplicas", "has a definition that requires it; set it"
    if asked.by_hand and asked.size > 1:
        yield (
            f"{_TEMPLATE}.size",
            "creates the workers only once the leader is ready (startupPolicy LeaderReady), but engines are ready "
            "only once their workers have joined; use one pod with all accelerators of a replica",
        )
    for where, model in zip(asked.claim.paths, asked.claim.models, strict=True):
        source, who = source_of(model), f"OpenModel {model.metadata.name!r}"
        if source.scheme == "host" and not asked.claim.skip_loader:
            twice = f"adds two volumes of one name for {source.uri!r} of {who}, which the API server refuses"
            yield where, f"{twice} again and again; take the weights from a hub or an object store"
        if source.scheme == "ollama" and not is_shell_word(source.address):
            yield (
                where,
                f"writes {source.address!r} of {who} into a shell script, which would run parts of it; correct it",
            )


def _untolerated(asked: Asked, path: str) -> Iterator[Fault]:
    """Yield taints of the flavors' nodes that keep the pods Pending: the operator adds no toleration."""
    choices = node_choices(asked.claim.flavors)
    for taint in {t["key"]: t for choice in choices for t in taints(choice.instance_type)}.values():
        lacking = [
            part
            for part, template in asked.templates.items()
            if _runs_model(template)
            and not any(tolerates(each, taint) for each in template["spec"].get("tolerations") or ())
        ]
        what = (
            f"adds no toleration, but the nodes have the taint {taint['key']}={taint['value']}:NoSchedule, so that "
        )
        entry = f"{{key: {taint['key']}, operator: Exists}}"
        if lacking and not asked.by_hand:
            yield path, f"{what}the pods stay Pending; use a Service whose pod templates have tolerations: [{entry}]"
        elif lacking:
            yield from (
                (f"{_TEMPLATE}.{part}.spec.tolerations", f"{what}its pods stay Pending; add {entry}")
                for part in lacking
            )


def _runs_model(template: Object) -> bool:
    """Tell whether pods get what the flavor limits, and so ask for its devices."""
    return any(container["name"] == RUNNER for container in template["spec"]["containers"])


def _doubts(asked: Asked, path: str) -> Iterator[Fault]:
    """Yield what the operator drops where the pods still start; no path for flavors that are reported already."""
    if path and any(choice.labels for choice in node_choices(asked.claim.flavors)):
        yield (
            path,
            "sets no affinity for flavors, so their order, labels and INSTANCE-TYPE take effect only with its own "
            "scheduler; install that",
        )
    for key in asked.annotations:
        yield field_path(("metadata", "annotations", key)), "does not hand it to the LeaderWorkerSet; remove it"
    if asked.by_hand and asked.template.get("restartPolicy", _DEFAULT_RESTART) != _DEFAULT_RESTART:
        yield f"{_TEMPLATE}.restartPolicy", f"does not hand it on, so that {_DEFAULT_RESTART} applies; remove it"
    if (asked.rollout.get("rollingUpdateConfiguration") or {}).get("partition"):
        where = "spec.rolloutStrategy.rollingUpdateConfiguration.partition"
        yield where, "does not hand it on, so that every replica gets a change; remove it"
    if asked.template.get("subGroupPolicy"):
        yield f"{_TEMPLATE}.subGroupPolicy", "does not hand it on; remove it"
