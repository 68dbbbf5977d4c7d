"""Checks of settings that llmaz's operator ignores or breaks, before a resource is left to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.kinds import Kind
from ...contract.problems import field_path
from ...contract.releases import Span
from ...engines.shell import is_shell_word
from ...fleet.options import Options
from ...fleet.placement import taints, tolerates
from .backend import CONFIG_PATH, ChosenBackend
from .flavors import node_choices
from .kinds import RELEASES
from .loaders import RUNNER, SKIP_LOADER, loader_variables
from .models import source_of
from .types import OpenModel, PlaygroundSpec
from .workload import DesiredWorkload

PINNED = "v0.1.4"
"""The release whose operator is installed unless a release is set (charts.yaml)."""
_OPTIONS = ("overrides", "cache", "workload", "runtimes", "grace_seconds")
_TEMPLATE = "spec.workloadTemplate"
_DEFAULT_RESTART = "RecreateGroupOnPodRestart"
_ALWAYS, _UNTIL_GROUPS, _SINCE_GROUPS = Span(), Span(until="v0.1.1"), Span(since="79d833c")
"""Playgrounds had groups of several pods until v0.1.1; since then, the startup policy is always LeaderReady."""


class Fault(NamedTuple):
    """A field that the operator mishandles.

    Attributes:
        path: The field.
        reason: How the operator mishandles it, and what to do.
        span: The releases whose operator does.
    """

    path: str
    reason: str
    span: Span = _ALWAYS


@dataclass(frozen=True, slots=True)
class OperatedPlayground:
    """What decides how the operator treats a Playground, besides its workload.

    Attributes:
        spec: The Playground, in the contract's form.
        backend: Its engine and configuration.
        has_group_commands: Whether the operator finds commands for groups of pods in the BackendRuntime.
    """

    spec: PlaygroundSpec
    backend: ChosenBackend
    has_group_commands: bool


def operated_release(kind: Kind) -> str:
    """Return the release whose operator is installed."""
    return kind.release or PINNED


def makes_service(release: str) -> bool:
    """Return whether the operator of a release creates the ``-lb`` Service, which v0.1.0 has not yet."""
    return RELEASES.covers(Span(since="v0.1.1"), release)


def check_for_operator(
    desired: DesiredWorkload,
    path: str,
    options: Options,
    findings: Findings,
    playground: OperatedPlayground | None = None,
) -> None:
    """Report options and fields that the operator ignores or breaks (llmaz spec 1.3, 2.6, 2.7).

    Args:
        desired: The workload.
        path: The field to report problems of flavors at.
        options: Rendering options.
        findings: Receives the problems.
        playground: The Playground; None for a Service.
    """
    for name in _OPTIONS:
        if getattr(options, name) != getattr(Options(), name):
            reason = (
                f"the option {name!r} applies only to realization 'native'; the llmaz operator does not support it"
            )
            findings.error("", reason, RuleId.SETTINGS)
    kind = findings.source.kind
    release = operated_release(kind)
    operator = f"the llmaz operator {kind.release}".rstrip()
    pending = [] if options.tolerates_devices else list(_untolerated(desired, path))
    broken = [
        *_errors(desired, path),
        *pending,
        *(_playground_errors(desired, playground, path) if playground else ()),
    ]
    dropped = [
        *_warnings(desired, "" if pending else path),
        *(_playground_warnings(playground) if playground else ()),
    ]
    for fault in (fault for fault in broken if RELEASES.covers(fault.span, release)):
        reason = f"{operator} {fault.reason}, or use realization 'native'"
        findings.error(fault.path, reason, RuleId.OPERATOR_UNSUPPORTED)
    for fault in (fault for fault in dropped if RELEASES.covers(fault.span, release)):
        reason = f"{operator} {fault.reason}, or use realization 'native'"
        findings.warn(fault.path, reason, RuleId.OPERATOR_DIFFERS)


def check_model_for_operator(model: OpenModel, kind: Kind, findings: Findings) -> None:
    """Report a source that the admission webhook of the release rejects."""
    scheme = source_of(model).scheme
    if scheme in ("s3", "gcs") and RELEASES.covers(Span(until="v0.1.3"), operated_release(kind)):
        findings.error(
            "spec.source.uri",
            f"the llmaz operator {kind.release} rejects {scheme}://, which v0.1.4 has first; choose "
            f"that release ({RELEASES.choosing('v0.1.4')}), take the weights from elsewhere, or "
            "use realization 'native'",
            RuleId.OPERATOR_UNSUPPORTED,
        )


def _errors(desired: DesiredWorkload, path: str) -> Iterator[Fault]:
    parallelism = desired.parallelism
    if (parallelism.tensor or 1) > 1 or (parallelism.pipeline or 1) > 1:
        reason = "ignores the flavor's params TP and PP; use a Service with explicit flags and size"
        yield Fault(path, reason, _SINCE_GROUPS)
    if (parallelism.tensor or 1) > 1 and not parallelism.pipeline:
        reason = "ignores the flavor's param TP without PP; use a Service with explicit flags"
        yield Fault(path, reason, _UNTIL_GROUPS)
    if desired.scaling and desired.scaling.maximum is None:
        yield Fault("spec.elasticConfig.maxReplicas", "requires it; set it", Span(since="v0.1.2"))
    if desired.by_hand and desired.size > 1:
        yield Fault(
            f"{_TEMPLATE}.size",
            "creates the workers only once the leader is ready (startupPolicy LeaderReady), but engines are ready "
            "only once their workers have joined; use one pod with all accelerators of a replica",
            _SINCE_GROUPS,
        )
    if desired.claim.skip_loader:
        key = field_path(("metadata", "annotations", SKIP_LOADER))
        reason = "ignores it and loads the weights into the pod, where the engine does not look for them; remove it"
        yield Fault(key, reason, Span(until="v0.1.3"))
    for field, model in zip(desired.claim.paths, desired.claim.models, strict=True):
        source, title = source_of(model), f"OpenModel {model.metadata.name!r}"
        if source.scheme == "host" and not desired.claim.skip_loader:
            yield Fault(
                field,
                f"adds two volumes of one name for {source.uri!r} of {title}, which the API server rejects on each "
                "attempt; take the weights from a hub or an object store",
                Span(since="v0.1.4"),
            )
        if source.scheme == "ollama" and not is_shell_word(source.address):
            yield Fault(
                field,
                f"writes {source.address!r} of {title} into a shell script, which would execute parts of it; correct "
                "it",
            )
    yield from _repeated_by_loader(desired)


def _repeated_by_loader(desired: DesiredWorkload) -> Iterator[Fault]:
    """Yield variables that the operator copies to the model loader and adds once more."""
    if desired.claim.skip_loader:
        return
    added = {name for model in desired.claim.models for name in loader_variables(source_of(model))}
    for part, template in desired.templates.items():
        variables = [variable["name"] for variable in template["spec"]["containers"][0].get("env") or ()]
        for name in (name for name in variables if name in added):
            field = f"{_TEMPLATE}.{part}.spec.containers[0].env" if desired.by_hand else f"{CONFIG_PATH}.envs"
            yield Fault(
                field,
                f"gives the model loader {name} twice, which the API server rejects on each attempt; remove it, and "
                "put the token into the Secret that the loader reads",
                _SINCE_GROUPS,
            )
        if not desired.by_hand:
            return  # the workers have the variables of the leader


def _playground_errors(desired: DesiredWorkload, playground: OperatedPlayground, path: str) -> Iterator[Fault]:
    spec, backend = playground.spec, playground.backend
    runtime, config = backend.runtime.metadata.name, spec.backend_runtime_config
    own = [variable["name"] for variable in backend.runtime.spec.envs or ()]
    users = [variable["name"] for variable in (config and config.envs) or ()]
    # Since v0.1.2, variables are merged by name, but only those of a Playground with backendRuntimeConfig.
    if len({*own, *users}) < len(own) + len(users):
        yield Fault(
            f"{CONFIG_PATH}.envs" if users else "spec",
            f"copies the repeated variables of BackendRuntime {runtime!r} and the Playground to the LeaderWorkerSet, "
            "which the API server rejects; set each variable once",
            Span(until="79d833c"),
        )
    if config is None and len(set(own)) < len(own):
        yield Fault(
            "spec",
            f"copies the repeated variables of BackendRuntime {runtime!r} to the LeaderWorkerSet, which the API "
            "server rejects, unless there is a backendRuntimeConfig; remove them there",
            Span(since="v0.1.2"),
        )
    if desired.size > 1 and not playground.has_group_commands:
        reason = f"crashes on groups with BackendRuntime {runtime!r}, which has no multiHostCommands; add them"
        yield Fault(path, reason, _UNTIL_GROUPS)
    drafts = spec.model_claims and any(ref.role == "draft" for ref in spec.model_claims.models)
    if drafts and config is not None and not config.config_name:
        yield Fault(
            f"{CONFIG_PATH}.configName",
            "takes configuration 'default', which does not use the draft model; set it to speculative-decoding",
            Span(since="v0.1.3", until="v0.1.3"),
        )
    inferred = "speculative-decoding" if drafts else "default"
    if desired.scaling and desired.scaling.recommended and backend.config.name != inferred:
        yield Fault(
            "spec.elasticConfig",
            f"looks for a scaleTrigger in configuration {inferred!r}, although {backend.config.name!r} is used; "
            "copy the trigger to the Playground",
            Span(since="v0.1.1"),
        )


def _playground_warnings(playground: OperatedPlayground) -> Iterator[Fault]:
    config = playground.spec.backend_runtime_config
    variables = [*(playground.backend.runtime.spec.envs or ()), *((config and config.envs) or ())]
    if config is not None and len({variable["name"] for variable in variables}) > 1:
        yield Fault(
            f"{CONFIG_PATH}.envs",
            "orders several variables at random, so that each reconciliation may replace the pods; set one at most",
            Span(since="v0.1.2"),
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
            yield Fault(
                path,
                f"{effect}the pods stay Pending; use a Service whose pod templates have tolerations: [{entry}]",
            )
        elif lacking:
            yield from (
                Fault(f"{_TEMPLATE}.{part}.spec.tolerations", f"{effect}its pods stay Pending; add {entry}")
                for part in lacking
            )


def _warnings(desired: DesiredWorkload, path: str) -> Iterator[Fault]:
    """Yield fields that the operator drops although the pods start; an empty path skips the flavors."""
    if path and any(choice.labels for choice in node_choices(desired.claim.flavors)):
        yield Fault(
            path,
            "sets no affinity for flavors, so their order, labels and INSTANCE-TYPE take effect only with its own "
            "scheduler; install that",
        )
    for key in desired.annotations:
        reason = "does not pass it to the LeaderWorkerSet; remove it"
        yield Fault(field_path(("metadata", "annotations", key)), reason)
    if not desired.by_hand:
        return
    template = desired.template
    if template.get("restartPolicy", _DEFAULT_RESTART) != _DEFAULT_RESTART:
        yield Fault(f"{_TEMPLATE}.restartPolicy", f"ignores it, so {_DEFAULT_RESTART} applies; remove it")
    if template.get("subGroupPolicy"):
        yield Fault(f"{_TEMPLATE}.subGroupPolicy", "ignores it; remove it")
    if template.get("networkConfig"):
        yield Fault(f"{_TEMPLATE}.networkConfig", "ignores it; remove it")
    bounds = desired.rollout.get("rollingUpdateConfiguration") or {}
    if (bounds.get("maxUnavailable", 1), bounds.get("maxSurge", 0)) != (1, 0):
        reason = "ignores it and updates one replica at a time; remove it"
        yield Fault("spec.rolloutStrategy", reason, _UNTIL_GROUPS)
