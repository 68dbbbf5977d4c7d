"""Checks of a ModelServer: the pods that it selects, their engines and ports, and prefill with decode."""

from collections.abc import Mapping, Sequence

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....engines.pairs.reading import transfer_of
from ....engines.registry import engines
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import render_declared
from ....fleet.workloads import Workload
from ..generated import Generated
from ..names import OPERATOR, SERVING_LABEL
from ..references import SelectedRole, is_routed, matches, role_titles, selected_by
from ..types import ModelServer
from ..types.networking import ModelServerSpec

_SELECTOR = "spec.workloadSelector"
_GROUP_KEY = f"{SERVING_LABEL}/group-name"
_PROTOCOLS = {"http": "http", "lmcache": "http", "nixl": "nixl", "mooncake": "mooncake"}
"""The router's protocol for each type of kvConnector (kthena pkg/kthena-router/connectors/factory.go)."""


def render_model_server(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Check a ModelServer; it is rendered for the operator only."""
    resource = source.resource
    assert isinstance(resource, ModelServer)  # noqa: S101  the caller chose this function by kind
    namespace = resource.metadata.namespace or options.namespace
    spec, native = resource.spec, options.realization.is_native
    _check_traffic(spec, findings, native=native)
    roles = _check_selected(spec, library, namespace, findings, native=native)
    _check_ports(spec, roles, findings, native=native)
    check_engines(spec.inference_engine, roles, findings)
    _check_pair(spec, roles, findings)
    if native and not is_routed(library, namespace, source.name):
        findings.warn("", "has no effect: no ModelRoute leads to it; add one, or remove it", RuleId.FIELD_NO_EFFECT)
    return render_declared(source, options, OPERATOR)


def _check_traffic(spec: ModelServerSpec, findings: Findings, *, native: bool) -> None:
    """Report settings that neither Kthena's router nor a gateway applies."""
    # A ModelBooster has no such field: its ModelServers always have a policy.
    policy = None if isinstance(findings.source, Generated) else spec.traffic_policy
    if policy and policy.timeout is not None:
        remedy = "set frontDoor.requestTimeout" if native else "remove it"
        reason = f"has no effect: the router does not read it; {remedy}"
        findings.warn("spec.trafficPolicy.timeout", reason, RuleId.FIELD_NO_EFFECT)
    if policy and policy.retry is not None:
        reason = "has no effect: the router does not read it (D-21); remove it"
        findings.warn("spec.trafficPolicy.retry", reason, RuleId.FIELD_NO_EFFECT)
    if spec.workload_port and spec.workload_port.protocol == "https":
        reason = (
            "is https, but requests to pods always use plain HTTP; use http, and let the server listen without "
            "certificates"
        )
        findings.error("spec.workloadPort.protocol", reason, RuleId.ACCESS_UNROUTABLE)
    if spec.kv_connector is not None and spec.workload_selector.pd_group is None:
        reason = "has no effect without workloadSelector.pdGroup; remove it, or add the labels of prefill and decode"
        findings.warn("spec.kvConnector", reason, RuleId.FIELD_NO_EFFECT)


def _check_selected(
    spec: ModelServerSpec, library: Library, namespace: str, findings: Findings, *, native: bool
) -> list[SelectedRole]:
    """Return the roles that a ModelServer selects, and report a selector without pods."""
    path = f"{_SELECTOR}.matchLabels"
    labels = spec.workload_selector.match_labels or {}
    if not labels:
        reason = f"is required: without labels, every pod of namespace {namespace} would get requests"
        findings.error(path, reason, RuleId.REFERENCE_MISSING)
        return []
    roles = selected_by(labels, library, namespace)
    others = [] if roles else _selected_others(labels, library, namespace)
    if others and native:
        titles = ", ".join(f"{workload.kind} {workload.name!r}" for workload in others)
        reason = (
            f"selects the pods of {titles}, which no role of a ModelServing has: natively ModelRoutes lead to the "
            "Services of roles, so that these pods get no requests and the model no endpoint; write a ModelServing "
            "with the pods, add a Service of your own, or use realization 'operator'"
        )
        findings.warn(path, reason, RuleId.NATIVE_DIFFERS)
    elif not roles and not others:
        available = ", ".join(role_titles(library, namespace)) or "no ModelServing"
        selector = ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
        reason = f"selects no pods of namespace {namespace}: {selector} (available: {available}); correct the labels"
        if native:
            reason += ", or use realization 'operator' for pods that are not in these files"
            findings.error(path, reason, RuleId.REFERENCE_MISSING)
        else:
            reason += ", unless the pods are created elsewhere"
            findings.warn(path, reason, RuleId.REFERENCE_ELSEWHERE)
    return roles


def _selected_others(labels: Mapping[str, str], library: Library, namespace: str) -> list[Workload]:
    """Return the workloads of other APIs among the files, such as Deployments, whose pods a selector selects."""
    return [
        workload
        for workload in library.passed_through(namespace)
        if matches((workload.front.get("metadata") or {}).get("labels") or {}, labels)
    ]


def _check_ports(spec: ModelServerSpec, roles: Sequence[SelectedRole], findings: Findings, *, native: bool) -> None:
    path = "spec.workloadPort"
    if spec.workload_port is None:
        if not native or spec.workload_selector.pd_group is not None:
            reason = "is required: the router would send requests to port 0; set the engine's port"
            findings.error(path, reason, RuleId.ACCESS_UNROUTABLE)
        return
    port = spec.workload_port.port
    for role in roles:
        if role.ports and port not in role.ports:
            ports = ", ".join(map(str, role.ports))
            reason = f"is {port}, but the pods of {role.title} listen on {ports}; make the two match"
            findings.error(f"{path}.port", reason, RuleId.ACCESS_UNROUTABLE)


def check_engines(engine: str, roles: Sequence[SelectedRole], findings: Findings) -> None:
    """Warn about pods with an engine other than the ModelServer's."""
    for role in roles:
        server, _ = role.server
        if server.line.engine in engines() and server.line.engine != engine.lower():
            reason = (
                f"is {engine}, but the pods of {role.title} run {server.line.engine}, whose metrics have other "
                "names; correct it"
            )
            findings.warn("spec.inferenceEngine", reason, RuleId.ENGINE_UNKNOWN)


def _check_pair(spec: ModelServerSpec, roles: Sequence[SelectedRole], findings: Findings) -> None:
    """Check that pdGroup selects prefill and decode pods of the same serving groups."""
    pair = spec.workload_selector.pd_group
    if pair is None or not roles:
        return
    path = f"{_SELECTOR}.pdGroup"
    prefill = [role for role in roles if matches(role.labels, pair.prefill_labels)]
    decode = [role for role in roles if matches(role.labels, pair.decode_labels)]
    for field, selected in (("prefillLabels", prefill), ("decodeLabels", decode)):
        if not selected:
            available = ", ".join(role.title for role in roles)
            reason = f"selects no pods among those of matchLabels ({available}); correct it"
            findings.error(f"{path}.{field}", reason, RuleId.REFERENCE_MISSING)
    if any(role in decode for role in prefill):
        reason = "selects pods that prefillLabels also selects; use labels that only decode pods have"
        findings.error(f"{path}.decodeLabels", reason, RuleId.HANDOVER_BROKEN)
    prefill_servings = {role.serving.metadata.name for role in prefill}
    decode_servings = {role.serving.metadata.name for role in decode}
    if pair.group_key != _GROUP_KEY:
        lacking = [role.title for role in (*prefill, *decode) if pair.group_key not in role.labels]
        if lacking:
            reason = f"is not a label of the pods of {', '.join(lacking)}; use {_GROUP_KEY}, which all pods have"
            findings.error(f"{path}.groupKey", reason, RuleId.HANDOVER_BROKEN)
    elif prefill and decode and prefill_servings.isdisjoint(decode_servings):
        reason = "pairs pods of one serving group, but prefill and decode are in different ModelServings; use one"
        findings.error(f"{path}.groupKey", reason, RuleId.HANDOVER_BROKEN)
    _check_connector(spec, decode, findings)


def _check_connector(spec: ModelServerSpec, decode: Sequence[SelectedRole], findings: Findings) -> None:
    """Report a kvConnector whose protocol the engines do not use."""
    connector = spec.kv_connector.type if spec.kv_connector else "http"
    for role in decode:
        transfer = transfer_of(role.server[0].line)
        required = transfer.router if transfer else ""
        if not transfer or not required or _PROTOCOLS.get(required) == _PROTOCOLS[connector]:
            continue
        engine_connector = transfer.connector or transfer.table.implied
        if required not in _PROTOCOLS:
            version = transfer.version
            supported = (
                name
                for name in transfer.table.names_in(version)
                if (known := transfer.table.find(name, version)) and known.router in _PROTOCOLS
            )
            reason = (
                f"the engine of {role.title} uses {engine_connector}, which Kthena's router does not support; use "
                f"{', '.join(supported) or 'vLLM'}"
            )
            findings.error(f"{_SELECTOR}.pdGroup", reason, RuleId.HANDOVER_BROKEN)
        else:
            reason = (
                f"is {connector}, but the engine of {role.title} uses {engine_connector}, which needs {required}: "
                f"decode would compute every prompt again; set it to {required}"
            )
            findings.error("spec.kvConnector.type", reason, RuleId.HANDOVER_BROKEN)
