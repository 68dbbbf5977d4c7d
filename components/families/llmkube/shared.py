"""The kinds that concern several services. All need LLMKube's controllers; realization operator leaves them to it."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from ...contract.findings.collector import Findings, unknown_reference
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.releases import Span
from ...contract.texts.go_durations import GRAMMAR, seconds_of
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.serving import render_declared
from .operated import applies
from .rendering import OPERATOR
from .types.inference_service import InferenceService, Model
from .types.model_router import AuthPolicy, ModelRouter, ModelRouterSpec, RouterBackend, RouterRule, RuleMatch
from .types.shared import FederatedCluster, GPUQuota, LoRAAdapter, ModelPool

_WITH_OPERATOR = "use realization 'operator'"
_DURATION = re.compile(GRAMMAR)
_SHORTEST, _LONGEST = 0.1, 1800
"""Bounds of a timeout in seconds (modelrouter_validation.go at v0.9.19)."""
_SENSITIVE = ("pii", "phi")
_PROXY_LIMIT = "120s"
"""Default of ``--response-header-timeout``, which no timeout extends (cmd/router-proxy/main.go at v0.9.19)."""
_ATTEMPT_SECONDS = 60
"""Limit of an attempt and of a request on a gateway without a timeout (``defaultRouterPerRetryTimeout`` and
``routerRuleResource`` in internal/controller/gateway_resources_modelrouter.go)."""
_GATEWAY_IGNORES, _GATEWAY_FIXED = Span(until="v0.8.8"), Span(until="v0.8.15")
"""Releases whose routes have no timeout, and whose attempts always end after 60 s (the same file at each tag)."""

_GATEWAY_LOCAL = Span(until="v0.9.13")
"""Releases whose gateway mode stops at a backend outside the cluster (modelrouter_gateway_controller.go)."""


def render_model_router(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Leave a ModelRouter to the operator, whose proxy is an image of the project.

    Raises:
        Unrenderable: realization native; it is in ``findings``.
    """
    router = source.resource
    assert isinstance(router, ModelRouter)  # noqa: S101  the caller chose this function by kind
    if options.realization.is_native:
        raise findings.fail(
            "",
            "needs the operator, which configures its own proxy by the state of services and providers; "
            f"{_WITH_OPERATOR}, or frontDoor of the environment, which routes to models by their names",
            RuleId.NATIVE_UNSUPPORTED,
        )
    _check_router(router, router.metadata.namespace or options.namespace, library, findings)
    return render_declared(source, options, OPERATOR)


def render_model_pool(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Leave a ModelPool to the operator.

    Raises:
        Unrenderable: realization native; it is in ``findings``.
    """
    pool = source.resource
    assert isinstance(pool, ModelPool)  # noqa: S101  the caller chose this function by kind
    if options.realization.is_native:
        raise findings.fail(
            "",
            "needs the operator, which stops one service and starts another when requests arrive; "
            f"{_WITH_OPERATOR}, or suspend all services but one",
            RuleId.NATIVE_UNSUPPORTED,
        )
    namespace = pool.metadata.namespace or options.namespace
    services = library.all(InferenceService, namespace)
    names: list[str] = []
    for index, member in enumerate(pool.spec.members):
        name, path = member.inference_service_ref.name, f"spec.members[{index}].inferenceServiceRef.name"
        _check_service(name, path, namespace, library, findings)
        if name in names:
            findings.error(path, f"{name!r} is a member already; remove one of the two", RuleId.NAMES_TAKEN)
        names.append(name)
        service = services.get(name)
        if service and service.spec.autoscaling and not service.spec.suspend:
            reason = f"{name!r} has an autoscaler, which would start it again; remove its autoscaling"
            findings.error(path, reason, RuleId.AUTOSCALING_CONTESTED)
    if pool.spec.default and pool.spec.default not in names:
        reason = f"must be one of the members {', '.join(names)}, found {pool.spec.default!r}"
        findings.error("spec.default", reason, RuleId.REFERENCE_MISSING)
    _check_duration(pool.spec.swap_budget, "spec.swapBudget", "300s", findings)
    for name_, value in (("gpu", "gpu" in pool.spec.model_fields_set), ("nodeSelector", pool.spec.node_selector)):
        if value:
            reason = "has no effect: the members name their own GPUs and nodes; set them there, and remove it"
            findings.warn(f"spec.{name_}", reason, RuleId.FIELD_NO_EFFECT)
    return render_declared(source, options, OPERATOR)


def render_lora_adapter(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Leave a LoRAAdapter to the operator, which sends it to the running server.

    Raises:
        Unrenderable: realization native; it is in ``findings``.
    """
    adapter = source.resource
    assert isinstance(adapter, LoRAAdapter)  # noqa: S101  the caller chose this function by kind
    if options.realization.is_native:
        raise findings.fail(
            "",
            "needs the operator, which loads adapters into running servers; add {name, path} to "
            f"sglangConfig.loraAdapters of its InferenceService, or {_WITH_OPERATOR}",
            RuleId.NATIVE_UNSUPPORTED,
        )
    reference, path = adapter.spec.inference_service_ref, "spec.inferenceServiceRef.name"
    namespace = reference.namespace or adapter.metadata.namespace or options.namespace
    _check_service(reference.name, path, namespace, library, findings)
    service = library.all(InferenceService, namespace).get(reference.name)
    if service is not None:
        _check_adapted(service, path, findings)
    for name, other in library.all(LoRAAdapter, adapter.metadata.namespace or options.namespace).items():
        if (
            name < adapter.metadata.name
            and _target(other) == _target(adapter)
            and other.spec.name == adapter.spec.name
        ):
            reason = (
                f"{adapter.spec.name!r} is already the name of an adapter, {name!r}, of the same service; rename it"
            )
            findings.error("spec.name", reason, RuleId.NAMES_TAKEN)
    return render_declared(source, options, OPERATOR)


def render_gpu_quota(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Leave a GPUQuota to the operator, whose webhook enforces it.

    Raises:
        Unrenderable: realization native; it is in ``findings``.
    """
    quota = source.resource
    assert isinstance(quota, GPUQuota)  # noqa: S101  the caller chose this function by kind
    spec = quota.spec
    if options.realization.is_native:
        raise findings.fail(
            "",
            "needs the operator, whose webhook counts the GPUs of InferenceServices; a ResourceQuota counts those of "
            f"all pods, also while they are replaced; {_WITH_OPERATOR}, or write a ResourceQuota",
            RuleId.NATIVE_UNSUPPORTED,
        )
    findings.warn(
        "",
        "is enforced only if the operator's chart has webhook.enabled and multitenancy.enabled, which are off as it "
        "is installed here; until then the operator only reports the use",
        RuleId.OPERATOR_DIFFERS,
    )
    if spec.cost_budget_ref:
        reason = "has no effect: no release of LLMKube has budgets; remove it"
        findings.warn("spec.costBudgetRef", reason, RuleId.FIELD_NO_EFFECT)
    used = sum(_gpus(service, library, spec.namespace_ref) for service in _services(library, spec.namespace_ref))
    if spec.namespace_ref and used > spec.gpu_count:
        findings.warn(
            "spec.gpuCount",
            f"the services of namespace {spec.namespace_ref} request up to {used} GPUs, more than {spec.gpu_count}; "
            "raise it, or lower their replicas",
            RuleId.OPERATOR_DIFFERS,
        )
    return render_declared(source, options, OPERATOR)


def render_federated_cluster(
    source: LoadedResource, _library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Leave a FederatedCluster to the operator.

    Raises:
        Unrenderable: realization native; it is in ``findings``.
    """
    assert isinstance(source.resource, FederatedCluster)  # noqa: S101  the caller chose this function by kind
    if options.realization.is_native:
        raise findings.fail(
            "",
            f"needs the operator, which the operators of other clusters report to; {_WITH_OPERATOR}",
            RuleId.NATIVE_UNSUPPORTED,
        )
    return render_declared(source, options, OPERATOR)


# -- services that others refer to


def _check_service(name: str, path: str, namespace: str, library: Library, findings: Findings) -> None:
    services = library.all(InferenceService, namespace)
    if name in services or library.is_unread(InferenceService.__name__, name):
        return
    elsewhere = library.namespaces_with(InferenceService, name)
    remedy = f"it exists in namespace {', '.join(elsewhere)}" if elsewhere else f"add one to namespace {namespace}"
    reason = unknown_reference(InferenceService.__name__, name, library.names(InferenceService, namespace), remedy)
    findings.error(path, reason, RuleId.REFERENCE_MISSING)


def _check_adapted(service: InferenceService, path: str, findings: Findings) -> None:
    """Report a service into whose servers the operator cannot load adapters."""
    spec, name = service.spec, service.metadata.name
    if spec.runtime != "sglang":
        findings.error(
            path,
            f"{name!r} has runtime {spec.runtime}, but only sglang loads adapters while it runs",
            RuleId.ADAPTERS_WRONG,
        )
        return
    config, flag = spec.sglang_config, engines()["sglang"].flag(Setting.ADAPTERS_ON)
    has_some = config is not None and (config.lora_adapters or config.lora_modules)
    if not has_some and flag not in (spec.extra_args or ()):
        findings.error(
            path,
            f"the server of {name!r} starts without adapters and refuses to load one; add {flag} to its extraArgs, "
            "with maxLoraRank and loraTargetModules in sglangConfig",
            RuleId.ADAPTERS_WRONG,
        )
    most = spec.autoscaling.max_replicas if spec.autoscaling else spec.replicas
    if most > 1:
        findings.error(
            path,
            f"the operator sends an adapter to the Service of {name!r}, so only one of its {most} pods loads it; use "
            "sglangConfig.loraAdapters of the service, or one replica",
            RuleId.OPERATOR_UNSUPPORTED,
        )


def _target(adapter: LoRAAdapter) -> tuple[str, str | None]:
    reference = adapter.spec.inference_service_ref
    return reference.name, reference.namespace or adapter.metadata.namespace


def _services(library: Library, namespace: str | None) -> list[InferenceService]:
    return list(library.all(InferenceService, namespace).values()) if namespace else []


def _gpus(service: InferenceService, library: Library, namespace: str | None) -> int:
    """Return the GPUs that a service may request, as the webhook counts them."""
    spec = service.spec
    model = library.all(Model, namespace or "").get(spec.model_ref)
    hardware = model.spec.hardware if model else None
    own = spec.resources.gpu if spec.resources else None
    gpus = (hardware.gpu.count if hardware and hardware.gpu else None) or own or 0
    return gpus * (spec.autoscaling.max_replicas if spec.autoscaling else spec.replicas)


# -- routers


def _check_router(router: ModelRouter, namespace: str, library: Library, findings: Findings) -> None:
    """Report what LLMKube's webhook and controllers refuse (modelrouter_validation.go at v0.9.19), and ignore."""
    spec = router.spec
    names: list[str] = []
    for index, backend in enumerate(spec.backends):
        path = f"spec.backends[{index}]"
        _check_backend(backend, path, namespace, library, findings)
        if backend.name in names:
            findings.error(
                f"{path}.name", f"{backend.name!r} is used twice; names must be unique", RuleId.NAMES_TAKEN
            )
        names.append(backend.name)
    _check_backend_names([("spec.defaultRoute", spec.default_route)] if spec.default_route else [], names, findings)
    backends = {backend.name: backend for backend in spec.backends}
    for index, rule in enumerate(spec.rules_ or ()):
        path = f"spec.rules[{index}]"
        routes = [(f"{path}.route.backends[{place}]", name) for place, name in enumerate(rule.route.backends)]
        _check_backend_names(routes, names, findings)
        _check_timeout(rule.timeout, f"{path}.timeout", findings)
        _check_sensitive(rule, spec, path, backends, findings)
    _check_budgets(spec, findings)
    for path, reason in _wrong_timeouts(spec, findings):
        findings.warn(path, reason, RuleId.OPERATOR_DIFFERS)
    for path, what in _ignored(spec):
        reason = f"has no effect with data plane {spec.data_plane}: {what}; remove it"
        findings.warn(path, reason, RuleId.OPERATOR_DIFFERS)
    if spec.proxy is not None:
        _check_duration(spec.proxy.quarantine_duration, "spec.proxy.quarantineDuration", "15s", findings)
        _check_duration(spec.proxy.response_header_timeout, "spec.proxy.responseHeaderTimeout", "120s", findings)
    if spec.data_plane == "Gateway":
        for path, reason in _unsupported_by_gateway(spec, findings):
            findings.error(path, reason, RuleId.OPERATOR_UNSUPPORTED)


def _check_backend(backend: RouterBackend, path: str, namespace: str, library: Library, findings: Findings) -> None:
    if (backend.inference_service_ref is None) == (backend.external is None):
        found = "neither" if backend.external is None else "both"
        reason = f"must have exactly one of inferenceServiceRef and external, found {found}"
        findings.error(path, reason, RuleId.OPERATOR_UNSUPPORTED)
    elif backend.inference_service_ref is not None:
        name = backend.inference_service_ref.name
        _check_service(name, f"{path}.inferenceServiceRef.name", namespace, library, findings)
        if backend.tier == "cloud":
            reason = "must be local for a service of the cluster, found cloud; remove it"
            findings.error(f"{path}.tier", reason, RuleId.OPERATOR_UNSUPPORTED)
    elif "tier" not in backend.model_fields_set:
        findings.warn(
            f"{path}.tier",
            "is local by default, even for a cloud provider, so rules for sensitive data may use it; set it to cloud",
            RuleId.OPERATOR_DIFFERS,
        )
    external = backend.external
    if external and not external.url and external.provider not in ("anthropic", "openai", "litellm"):
        reason = f"is required for provider {external.provider}, which has no default address; set it"
        findings.error(f"{path}.external.url", reason, RuleId.OPERATOR_UNSUPPORTED)
    _check_timeout(backend.timeout, f"{path}.timeout", findings)


def _check_backend_names(references: list[tuple[str, str]], names: list[str], findings: Findings) -> None:
    for path, name in references:
        if name not in names:
            reason = f"must be one of the backends {', '.join(names)}, found {name!r}"
            findings.error(path, reason, RuleId.REFERENCE_MISSING)


def _check_sensitive(
    rule: RouterRule, spec: ModelRouterSpec, path: str, backends: Mapping[str, RouterBackend], findings: Findings
) -> None:
    """Report rules for sensitive data that could leave the cluster, which the webhook refuses."""
    classification = spec.policy.classification if spec.policy else None
    sensitive = (classification.sensitive_classifications if classification else None) or _SENSITIVE
    matched = [name for name in (rule.match.data_classification if rule.match else None) or () if name in sensitive]
    if not matched:
        return
    if not rule.fail_closed:
        reason = f"must be true in a rule for {', '.join(matched)}, which are sensitive"
        findings.error(f"{path}.failClosed", reason, RuleId.OPERATOR_UNSUPPORTED)
    for index, name in enumerate(rule.route.backends):
        if name in backends and backends[name].tier == "cloud":
            reason = f"{name!r} is a cloud provider, but the rule is for {', '.join(matched)}, which are sensitive"
            findings.error(f"{path}.route.backends[{index}]", reason, RuleId.OPERATOR_UNSUPPORTED)


def _unsupported_by_gateway(spec: ModelRouterSpec, findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield fields for which data plane Gateway creates nothing at all, and what to write instead.

    The webhook refuses them, and where it does not run, the controller sets GatewayReady to false
    (``gatewayModeViolations`` in modelrouter_webhook.go and modelrouter_gateway_controller.go, v0.8.8 to v0.9.19).
    """
    if spec.gateway_ref is None:
        yield "spec.gatewayRef", "is required with data plane Gateway; name the Gateway of Envoy AI Gateway"
    policy = spec.policy
    mode = policy.classification.mode if policy and policy.classification else "header-only"
    for index, rule in enumerate(spec.rules_ or ()):
        path = f"spec.rules[{index}]"
        matched = rule.match or RuleMatch()
        for name, value in (
            ("taskComplexity", matched.task_complexity),
            ("requiredCapabilities", matched.required_capabilities),
            ("latencySLOMs", matched.latency_slo_ms),
        ):
            if value:
                reason = "cannot be matched with data plane Gateway; use models or headers, or data plane Proxy"
                yield f"{path}.match.{name}", reason
        if matched.data_classification and mode != "header-only":
            reason = (
                f"cannot be matched with data plane Gateway and classification mode {mode}; set "
                "policy.classification.mode: header-only"
            )
            yield f"{path}.match.dataClassification", reason
        if rule.route.strategy == "shadow":
            reason = "must be primary-fallback or weighted with data plane Gateway, found shadow"
            yield f"{path}.route.strategy", reason
    for index, backend in enumerate(spec.backends):
        if backend.external is not None:
            yield from _external_by_gateway(backend.external.url, f"spec.backends[{index}].external", findings)
    if policy is None:
        return
    for index, budget in enumerate(policy.budgets or ()):
        path = f"spec.policy.budgets[{index}]"
        if budget.max_usd:
            yield f"{path}.maxUSD", "is not supported with data plane Gateway, which counts tokens; set maxTokens"
        if budget.scope == "rule":
            yield f"{path}.scope", "must be router or team with data plane Gateway, found rule"
    if policy.audit_log is not None:
        reason = "is not supported with data plane Gateway; configure the access log of its EnvoyProxy, and remove it"
        yield "spec.policy.auditLog", reason
    if policy.auth is not None:
        yield from _wrong_allowlists(policy.auth)


def _external_by_gateway(url: str | None, path: str, findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a provider (``resolveBackends``, since v0.9.14 ``resolveExternalBackend``)."""
    if applies(_GATEWAY_LOCAL, findings):
        yield path, "is not supported with data plane Gateway until v0.9.13; choose v0.9.14 or later, or Proxy"
        return
    address = urlsplit(url or "")
    if not address.hostname or not (address.scheme in ("http", "https") or ":" in address.netloc):
        yield f"{path}.url", "must be an absolute address with data plane Gateway, such as https://api.example.org/v1"


def _wrong_allowlists(auth: AuthPolicy) -> Iterator[tuple[str, str]]:
    """Yield allowlists that would lock out teams (``invalidAuthorizationMessage``)."""
    path, teams = "spec.policy.auth.allowlists", set[str]()
    if auth.allowlists and auth.jwt is None:
        yield path, "needs policy.auth.jwt, whose tokens name the team; add it, or remove the lists"
        return
    for index, allowlist in enumerate(auth.allowlists or ()):
        if allowlist.team != allowlist.team.strip() or not allowlist.team:
            yield (
                f"{path}[{index}].team",
                "must not be blank, nor begin or end with a blank; no token has such a team",
            )
        elif allowlist.team in teams:
            yield f"{path}[{index}].team", f"{allowlist.team!r} has a list already; write its models into one list"
        teams.add(allowlist.team)


def _check_budgets(spec: ModelRouterSpec, findings: Findings) -> None:
    rules = [rule.name for rule in spec.rules_ or ()]
    for index, budget in enumerate((spec.policy.budgets if spec.policy else None) or ()):
        path = f"spec.policy.budgets[{index}]"
        if budget.scope == "rule" and budget.rule_name not in rules:
            reason = (
                f"must be one of the rules {', '.join(rules) or '(none)'} for scope rule, found {budget.rule_name!r}"
            )
            findings.error(f"{path}.ruleName", reason, RuleId.REFERENCE_MISSING)
        if budget.max_tokens is None and not budget.max_usd:
            reason = "must have a limit, found none; set maxTokens or maxUSD"
            findings.error(path, reason, RuleId.OPERATOR_UNSUPPORTED)


def _wrong_timeouts(spec: ModelRouterSpec, findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield the timeouts that do not last as long as they say, and what ends a request instead."""
    backends = [(f"spec.backends[{index}].timeout", item.timeout) for index, item in enumerate(spec.backends)]
    rules = [(f"spec.rules[{index}].timeout", item.timeout) for index, item in enumerate(spec.rules_ or ())]
    written = [(path, timeout, False) for path, timeout in backends if timeout is not None]
    written += [(path, timeout, True) for path, timeout in rules if timeout is not None]
    if spec.data_plane == "Proxy":
        proxy_limit = (spec.proxy.response_header_timeout if spec.proxy else None) or _PROXY_LIMIT
        for path, timeout, _ in written:
            if (_seconds(timeout) or 0) > (_seconds(proxy_limit) or 0):
                yield (
                    path,
                    (
                        f"is {timeout}, but the proxy waits for an answer at most spec.proxy.responseHeaderTimeout "
                        f"({proxy_limit}), which ends answers that are not streamed; set that to {timeout} too"
                    ),
                )
        return
    choice = "choose release v0.8.16 or later (releases: {llmkube: ...})"
    ends = f"the gateway ends every attempt after {_ATTEMPT_SECONDS} s"
    for path, timeout, is_rule in written:
        is_longer = (_seconds(timeout) or 0) > _ATTEMPT_SECONDS
        if not is_rule:
            if applies(_GATEWAY_FIXED, findings) or not _all_rules_wait(spec, _seconds(timeout) or 0):
                yield (
                    path,
                    (
                        "is no limit of requests with data plane Gateway, where only rules have one; set the "
                        "timeout in each rule"
                    ),
                )
        elif applies(_GATEWAY_IGNORES, findings):
            yield path, f"is ignored in this release: {ends}; {choice}"
        elif is_longer and applies(_GATEWAY_FIXED, findings):
            yield path, f"is {timeout}, but in this release {ends}, whatever the rule says; {choice}"
    is_fixed = applies(_GATEWAY_FIXED, findings)
    for index, rule in enumerate(spec.rules_ or ()):
        if rule.timeout is None:
            reason = (
                f"is not set, so that the gateway ends a request after {_ATTEMPT_SECONDS} s, even a stream; set it "
                "to the longest request, at most 30m"
            )
            if is_fixed:
                reason = f"is not set, and in this release {ends}, even a stream, whatever the rule says; {choice}"
            yield f"spec.rules[{index}].timeout", reason
    if spec.default_route:
        remedy = choice if is_fixed else "send long requests to it by a rule with a timeout"
        yield (
            "spec.defaultRoute",
            f"has no timeout of its own, so that the gateway ends a request after {_ATTEMPT_SECONDS} s, even a "
            f"stream; {remedy}",
        )


def _all_rules_wait(spec: ModelRouterSpec, seconds: float) -> bool:
    """Return whether each rule has a timeout of its own, of at least this long."""
    rules = spec.rules_ or []
    return bool(rules) and all((_seconds(rule.timeout or "") or 0) >= seconds for rule in rules)


def _ignored(spec: ModelRouterSpec) -> Iterator[tuple[str, str]]:
    """Yield fields that no controller passes on to the data plane (router_config_builder.go at v0.9.19)."""
    if spec.data_plane == "Gateway":
        if spec.proxy is not None:
            yield "spec.proxy", "there is no proxy"
        return
    for index, backend in enumerate(spec.backends):
        for name, value in (
            ("costPerMillionTokens", backend.cost_per_million_tokens),
            ("healthCheck", backend.health_check),
        ):
            if value is not None:
                yield f"spec.backends[{index}].{name}", "the proxy does not read it"
    for index, rule in enumerate(spec.rules_ or ()):
        if rule.match and rule.match.latency_slo_ms is not None:
            yield f"spec.rules[{index}].match.latencySLOMs", "the proxy does not read it"
    policy = spec.policy
    if policy and policy.budgets:
        yield "spec.policy.budgets", "only data plane Gateway has them"
    if policy and policy.auth is not None:
        yield "spec.policy.auth", "only data plane Gateway has it"
    if spec.mcp_server is not None:
        yield "spec.mcpServer", "no release serves it"
    if spec.gateway_ref is not None:
        yield "spec.gatewayRef", "the proxy needs no gateway"


def _check_timeout(text: str | None, path: str, findings: Findings) -> None:
    if text is None:
        return
    seconds = _seconds(text)
    if seconds is None:
        _check_duration(text, path, "90s", findings)
    elif not _SHORTEST <= seconds <= _LONGEST:
        findings.error(path, f"must be a duration from 100ms to 30m such as 90s, found {text!r}")


def _check_duration(text: str | None, path: str, example: str, findings: Findings) -> None:
    """Report a duration that the operator cannot read.

    The schema allows any text. The types are ``metav1.Duration`` in all releases (api/v1alpha1 of LLMKube), so that
    one such object breaks the operator's list of all objects of its kind.
    """
    if text is not None and _seconds(text) is None:
        reason = (
            f"must be a duration of Go such as {example}, found {text!r}; with it the operator can read no object of "
            f"kind {findings.source.kind.kind} in the cluster"
        )
        findings.error(path, reason)


def _seconds(duration: str) -> float | None:
    """Return the seconds of a duration; None for a malformed one."""
    return seconds_of(duration) if _DURATION.match(duration) else None
