"""What is wrong with a ModelServer: pods that it does not find, fields without effect."""

from collections.abc import Sequence

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....engines.pairs.reading import Transfer, transfer_of
from ....engines.registry import engines
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import render_declared
from ..made import Made
from ..names import SERVING_LABEL
from ..operated import OPERATOR
from ..reach import SelectedRole, is_routed, meets, selected_by, titles_of
from ..types import ModelServer
from ..types.networking import ModelServerSpec

_SELECTOR = "spec.workloadSelector"
_LABELS = f"{_SELECTOR}.matchLabels"
_GROUP_KEY = f"{SERVING_LABEL}/group-name"
_SPOKEN = {"http": "http", "lmcache": "http", "nixl": "nixl", "mooncake": "mooncake"}
"""What the router speaks, by the word for it (kthena pkg/kthena-router/connectors/factory.go)."""


def render_model_server(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Check a ModelServer; by itself it becomes nothing natively, and an object for the operator."""
    resource = source.resource
    assert isinstance(resource, ModelServer)  # noqa: S101  the caller chose this function by kind
    namespace = resource.metadata.namespace or options.namespace
    spec, native = resource.spec, options.realization.is_native
    _check_unused(spec, findings, native=native)
    roles = _check_selected(spec, library, namespace, findings, native=native)
    _check_ports(spec, roles, findings, native=native)
    check_engines(spec.inference_engine, roles, findings)
    _check_pair(spec, roles, findings)
    if native and not is_routed(library, namespace, source.name):
        findings.warn("", "has no effect: no ModelRoute leads to it; add one, or remove it", RuleId.FIELD_NO_EFFECT)
    return render_declared(source, options, OPERATOR)


def _check_unused(spec: ModelServerSpec, findings: Findings, *, native: bool) -> None:
    """Report what neither Kthena's router nor a gateway does."""
    policy = None if isinstance(findings.source, Made) else spec.traffic_policy
    if policy and policy.timeout is not None:
        instead = "set frontDoor.requestTimeout" if native else "remove it"
        findings.warn(
            "spec.trafficPolicy.timeout",
            f"has no effect: the router does not read it; {instead}",
            RuleId.FIELD_NO_EFFECT,
        )
    if policy and policy.retry is not None:
        findings.warn(
            "spec.trafficPolicy.retry",
            "has no effect: the router does not read it (D-21); remove it",
            RuleId.FIELD_NO_EFFECT,
        )
    if spec.workload_port and spec.workload_port.protocol == "https":
        findings.error(
            "spec.workloadPort.protocol",
            "is https, but requests reach the pods over plain HTTP, whatever it says; use http, and let the server "
            "listen without certificates",
            RuleId.ACCESS_UNROUTABLE,
        )
    pair = spec.workload_selector.pd_group
    if spec.kv_connector is not None and pair is None:
        reason = "has no effect without workloadSelector.pdGroup; remove it, or add the labels of prefill and decode"
        findings.warn("spec.kvConnector", reason, RuleId.FIELD_NO_EFFECT)


def _check_selected(
    spec: ModelServerSpec, library: Library, namespace: str, findings: Findings, *, native: bool
) -> list[SelectedRole]:
    labels = spec.workload_selector.match_labels or {}
    if not labels:
        findings.error(
            _LABELS,
            f"is required: without labels every pod of namespace {namespace} would be asked",
            RuleId.REFERENCE_MISSING,
        )
        return []
    roles = selected_by(labels, library, namespace)
    if not roles:
        there = ", ".join(titles_of(library, namespace)) or "no ModelServing"
        written = ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
        reason = f"selects no pods of namespace {namespace}: {written} (there is {there}); correct the labels"
        if native:
            findings.error(
                _LABELS,
                f"{reason}, or use realization 'operator' for pods that are not among these files",
                RuleId.REFERENCE_MISSING,
            )
        else:
            findings.warn(_LABELS, f"{reason}, unless the pods are made elsewhere", RuleId.REFERENCE_ELSEWHERE)
    return roles


def _check_ports(spec: ModelServerSpec, roles: Sequence[SelectedRole], findings: Findings, *, native: bool) -> None:
    routed = not native or spec.workload_selector.pd_group is not None
    if spec.workload_port is None:
        if routed:
            findings.error(
                "spec.workloadPort",
                "is required: the router would ask port 0; set the engine's port",
                RuleId.ACCESS_UNROUTABLE,
            )
        return
    port = spec.workload_port.port
    for role in roles:
        known = role.ports
        if known and port not in known:
            reason = (
                f"is {port}, but the pods of {role.title} listen on {', '.join(map(str, known))}; make the two match"
            )
            findings.error("spec.workloadPort.port", reason, RuleId.ACCESS_UNROUTABLE)


def check_engines(engine: str, roles: Sequence[SelectedRole], findings: Findings) -> None:
    """Report pods that run another engine than their ModelServer says."""
    for role in roles:
        server, _ = role.server
        if server.line.engine in engines() and server.line.engine != engine.lower():
            reason = (
                f"is {engine}, but the pods of {role.title} run {server.line.engine}, whose metrics "
                "have other names; correct it"
            )
            findings.warn("spec.inferenceEngine", reason, RuleId.ENGINE_UNKNOWN)


def _check_pair(spec: ModelServerSpec, roles: Sequence[SelectedRole], findings: Findings) -> None:
    pair = spec.workload_selector.pd_group
    if pair is None or not roles:
        return
    path = f"{_SELECTOR}.pdGroup"
    sides = {"prefillLabels": pair.prefill_labels, "decodeLabels": pair.decode_labels}
    found = {field: [role for role in roles if meets(role.labels, labels)] for field, labels in sides.items()}
    for field, several in found.items():
        if not several:
            there = ", ".join(role.title for role in roles)
            findings.error(
                f"{path}.{field}",
                f"selects no pods among those of matchLabels ({there}); correct them",
                RuleId.REFERENCE_MISSING,
            )
    prefill, decode = found.values()
    if any(role in decode for role in prefill):
        findings.error(
            f"{path}.decodeLabels",
            "selects pods that prefillLabels selects too; tell them apart",
            RuleId.HANDOVER_BROKEN,
        )
    if pair.group_key != _GROUP_KEY:
        lacking = [role.title for role in (*prefill, *decode) if pair.group_key not in role.labels]
        if lacking:
            reason = f"is no label of the pods of {', '.join(lacking)}; use {_GROUP_KEY}, which all pods have"
            findings.error(f"{path}.groupKey", reason, RuleId.HANDOVER_BROKEN)
    elif prefill and decode and _servings(prefill).isdisjoint(_servings(decode)):
        reason = "pairs pods of one serving group, and prefill and decode are of different ModelServings; use one"
        findings.error(f"{path}.groupKey", reason, RuleId.HANDOVER_BROKEN)
    _check_connector(spec, decode, findings)


def _servings(roles: Sequence[SelectedRole]) -> set[str]:
    return {role.serving.metadata.name for role in roles}


def _check_connector(spec: ModelServerSpec, decode: Sequence[SelectedRole], findings: Findings) -> None:
    """Report a router that speaks otherwise than the engines do."""
    spoken = spec.kv_connector.type if spec.kv_connector else "http"
    for role in decode:
        server, _ = role.server
        transfer = transfer_of(server.line)
        wanted = transfer.router if transfer else ""
        if not transfer or not wanted or _SPOKEN.get(wanted) == _SPOKEN[spoken]:
            continue
        by = transfer.connector or transfer.table.implied
        if wanted not in _SPOKEN:
            reason = (
                f"the engine of {role.title} hands over by {by}, which Kthena's router cannot ask for; use "
                f"{_instead(transfer)}"
            )
            findings.error(f"{_SELECTOR}.pdGroup", reason, RuleId.HANDOVER_BROKEN)
        else:
            reason = (
                f"is {spoken}, but the engine of {role.title} hands over by {by}, which needs {wanted}: decode would "
                f"compute every prompt again; set it to {wanted}"
            )
            findings.error("spec.kvConnector.type", reason, RuleId.HANDOVER_BROKEN)


def _instead(transfer: Transfer) -> str:
    version = transfer.version
    found = (
        name
        for name in transfer.table.names_in(version)
        if (known := transfer.table.find(name, version)) and known.router in _SPOKEN
    )
    return ", ".join(found) or "vLLM"
