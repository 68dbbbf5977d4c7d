"""The kinds that need the operator: refused natively, handed over with realization operator, and checked before."""

from typing import Any

import pytest

from components.families import objects as loaded
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from tests.families.llmkube.support import EXISTS, Object, isvc, made, model
from tests.fleets import errors, warnings

RELEASE = {"llmkube": "v0.9.19"}
SERVER = {"image": "lmsysorg/sglang:v0.5.9", "runtime": "sglang", "skipModelInit": True, "endpoint": {"port": 30000}}
WEIGHTS = model(source="org/repo")


def rendered(*documents: Object, realization: Realization = Realization.OPERATOR) -> Fleet:
    manifests = loaded(documents, releases=RELEASE)
    assert not manifests.problems, list(map(str, manifests.problems))
    return render_fleet(manifests.resources, Options(realization=realization, releases=RELEASE))


def server(name: str = "svc", **spec: Any) -> Object:
    return isvc(name, **{**SERVER, "resources": {"gpu": 1}, "tolerations": [EXISTS], **spec})


def router(**spec: Any) -> Object:
    return made("ModelRouter", "r", {"backends": [{"name": "a", "inferenceServiceRef": {"name": "svc"}}], **spec})


def pool(*members: str, **spec: Any) -> Object:
    return made("ModelPool", "p", {"members": [{"inferenceServiceRef": {"name": name}} for name in members], **spec})


def adapter(object_name: str = "a", service: str = "svc", **spec: Any) -> Object:
    reference = {"inferenceServiceRef": {"name": service}}
    return made("LoRAAdapter", object_name, {**reference, "name": "x", "path": "/x", **spec})


def to(*backends: str, **rule: Any) -> Object:
    """A rule of a router."""
    return {"name": "r", "route": {"backends": list(backends)}, **rule}


def gateway(**spec: Any) -> Object:
    return router(dataPlane="Gateway", gatewayRef={"name": "eg", "namespace": "envoy"}, **spec)


JWT = {
    "provider": "p",
    "issuer": "https://i.example.org",
    "jwksURI": "https://i.example.org/keys",
    "teamClaim": "team",
}
LOCAL: Object = {"name": "a", "inferenceServiceRef": {"name": "svc"}}
CLOUD: Object = {"name": "a", "external": {"provider": "openai", "model": "m"}}


CLUSTER: Object = {
    "apiVersion": "federation.llmkube.dev/v1alpha1",
    "kind": "FederatedCluster",
    "metadata": {"name": "c"},
}
QUOTA = made("GPUQuota", "q", {"gpuCount": 8, "namespaceRef": "ns"})
ALL = [router(), pool("svc"), adapter(), QUOTA, CLUSTER]


@pytest.mark.parametrize("document", ALL, ids=lambda each: each["kind"])
def test_natively_each_is_refused_with_a_way_out(document: Object) -> None:
    found = errors(rendered(server(), WEIGHTS, document, realization=Realization.NATIVE))
    (problem,) = [each for each in found if each.kind == document["kind"]]
    assert (problem.rule, problem.path) == ("native-unsupported", "")
    assert "use realization 'operator'" in problem.reason


@pytest.mark.parametrize("document", ALL, ids=lambda each: each["kind"])
def test_the_operator_gets_each_as_it_is_written(document: Object) -> None:
    service = server(sglangConfig={"loraAdapters": [{"name": "y", "path": "/y"}]})
    fleet = rendered(service, WEIGHTS, document)
    assert not errors(fleet), list(map(str, errors(fleet)))
    (item,) = [item for item in fleet.rendered if item.kind == document["kind"]]
    assert list(item.objects) == [document]
    assert item.needs == {"llmkube"}


BROKEN: list[tuple[str, Object, str]] = [
    ("no such service", pool("svc", "other"), "spec.members[1].inferenceServiceRef.name"),
    ("twice", pool("svc", "svc"), "spec.members[1].inferenceServiceRef.name"),
    ("default of no member", pool("svc", default="x"), "spec.default"),
    ("no duration", pool("svc", swapBudget="soon"), "spec.swapBudget"),
    ("scaled", pool("scaled"), "spec.members[0].inferenceServiceRef.name"),
    ("no such server", adapter(service="other"), "spec.inferenceServiceRef.name"),
    ("another runtime", adapter(service="llama"), "spec.inferenceServiceRef.name"),
    ("server without adapters", adapter(), "spec.inferenceServiceRef.name"),
    ("several pods", adapter(service="several"), "spec.inferenceServiceRef.name"),
    ("no such backend", router(defaultRoute="b"), "spec.defaultRoute"),
    ("service of another namespace", router(backends=[{"name": "a", "inferenceServiceRef": {"name": "far"}}]),
     "spec.backends[0].inferenceServiceRef.name"),
    ("nothing behind it", router(backends=[{"name": "a"}]), "spec.backends[0]"),
    ("service in a cloud", router(backends=[{**LOCAL, "tier": "cloud"}]),
     "spec.backends[0].tier"),
    ("provider without address",
     router(backends=[{"name": "a", "tier": "cloud", "external": {"provider": "bedrock", "model": "m"}}]),
     "spec.backends[0].external.url"),
    ("a name twice", router(backends=[LOCAL, LOCAL]), "spec.backends[1].name"),
    ("timeout", router(rules=[to("a", timeout="2h")]), "spec.rules[0].timeout"),
    ("rule without backend", router(rules=[to("b")]), "spec.rules[0].route.backends[0]"),
    ("sensitive and open",
     router(rules=[to("a", match={"dataClassification": ["pii"]})]), "spec.rules[0].failClosed"),
    ("budget of no rule", router(policy={"budgets": [{"name": "b", "scope": "rule", "maxTokens": 1}]}),
     "spec.policy.budgets[0].ruleName"),
    ("budget without limit", router(policy={"budgets": [{"name": "b", "scope": "router"}]}),
     "spec.policy.budgets[0]"),
    ("no gateway", router(dataPlane="Gateway"), "spec.gatewayRef"),
    ("unreadable quarantine", router(proxy={"quarantineDuration": "soon"}), "spec.proxy.quarantineDuration"),
    ("unreadable limit", router(proxy={"responseHeaderTimeout": "1 minute"}), "spec.proxy.responseHeaderTimeout"),
    ("unreadable timeout", router(backends=[{**LOCAL, "timeout": "90"}]), "spec.backends[0].timeout"),
    ("complexity", gateway(rules=[to("a", match={"taskComplexity": "simple"})]),
     "spec.rules[0].match.taskComplexity"),
    ("capabilities", gateway(rules=[to("a", match={"requiredCapabilities": ["x"]})]),
     "spec.rules[0].match.requiredCapabilities"),
    ("latency", gateway(rules=[to("a", match={"latencySLOMs": 9})]), "spec.rules[0].match.latencySLOMs"),
    ("detector", gateway(rules=[to("a", match={"dataClassification": ["x"]})],
                         policy={"classification": {"mode": "detector"}}),
     "spec.rules[0].match.dataClassification"),
    ("shadow", gateway(rules=[{"name": "r", "route": {"backends": ["a"], "strategy": "shadow"}}]),
     "spec.rules[0].route.strategy"),
    ("dollars", gateway(policy={"budgets": [{"name": "b", "scope": "router", "maxUSD": "1"}]}),
     "spec.policy.budgets[0].maxUSD"),
    ("budget of a rule", gateway(rules=[to("a")], policy={"budgets": [
        {"name": "b", "scope": "rule", "ruleName": "r", "maxTokens": 1}]}),
     "spec.policy.budgets[0].scope"),
    ("audit log", gateway(policy={"auditLog": {"sink": "file", "filePath": "/a"}}), "spec.policy.auditLog"),
    ("lists without tokens", gateway(policy={"auth": {"allowlists": [{"team": "x"}]}}),
     "spec.policy.auth.allowlists"),
    ("blank team", gateway(policy={"auth": {"jwt": JWT, "allowlists": [{"team": "x "}]}}),
     "spec.policy.auth.allowlists[0].team"),
    ("a team twice", gateway(policy={"auth": {"jwt": JWT, "allowlists": [{"team": "x"}, {"team": "x"}]}}),
     "spec.policy.auth.allowlists[1].team"),
    ("provider without address", gateway(backends=[{**CLOUD, "tier": "cloud"}]), "spec.backends[0].external.url"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "path"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_the_operator_could_not_do_is_refused(document: Object, path: str) -> None:
    others = [
        server("scaled", autoscaling={"maxReplicas": 2}),
        server("several", replicas=2, sglangConfig={"loraModules": ["y=/y"]}),
        isvc("llama", image="x/y:1", model="m2"),
        isvc("far", namespace="elsewhere", image="x/y:1", model="m2"),
        model("m2"),
        model("m2", namespace="elsewhere"),
    ]
    found = [each for each in errors(rendered(server(), WEIGHTS, *others, document)) if each.kind == document["kind"]]
    assert path in [each.path for each in found], list(map(str, found))


def test_sensitive_data_must_not_leave_the_cluster() -> None:
    cloud = {"name": "c", "tier": "cloud", "external": {"provider": "openai", "model": "m"}}
    rule = {
        "name": "r",
        "match": {"dataClassification": ["secret"]},
        "route": {"backends": ["c"]},
        "failClosed": True,
    }
    policy = {"classification": {"sensitiveClassifications": ["secret"]}}
    fleet = rendered(router(backends=[cloud], rules=[rule], policy=policy))
    assert [each.path for each in errors(fleet)] == ["spec.rules[0].route.backends[0]"]


TOLD: list[tuple[str, Object, str]] = [
    ("tier", router(backends=[CLOUD]), "spec.backends[0].tier"),
    ("latency", router(rules=[to("a", match={"latencySLOMs": 9})]), "spec.rules[0].match.latencySLOMs"),
    ("budgets", router(policy={"budgets": [{"name": "b", "scope": "router", "maxUSD": "1"}]}), "spec.policy.budgets"),
    ("auth", router(policy={"auth": {}}), "spec.policy.auth"),
    ("tools", router(mcpServer={"enabled": True}), "spec.mcpServer"),
    ("proxy", router(dataPlane="Gateway", gatewayRef={"name": "g"}, proxy={"replicas": 2}), "spec.proxy"),
    ("GPUs", pool("svc", gpu=2), "spec.gpu"),
    ("budget of a quota", made("GPUQuota", "q", {"gpuCount": 8, "namespaceRef": "ns", "costBudgetRef": "b"}),
     "spec.costBudgetRef"),
    ("too small a quota", made("GPUQuota", "q", {"gpuCount": 0, "namespaceRef": "ns"}), "spec.gpuCount"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "path"), [case[1:] for case in TOLD], ids=[case[0] for case in TOLD])
def test_what_no_controller_reads_is_told(document: Object, path: str) -> None:
    fleet = rendered(server(), WEIGHTS, document)
    assert path in [each.path for each in warnings(fleet) if each.kind == document["kind"]]


def test_two_adapters_of_a_service_have_different_names() -> None:
    service = server(sglangConfig={"loraModules": ["y=/y"]})
    fleet = rendered(service, WEIGHTS, adapter("a"), adapter("b"), adapter("c", name="z"))
    assert [(each.name, each.path) for each in errors(fleet)] == [("b", "spec.name")]


GATEWAY: Object = {"dataPlane": "Gateway", "gatewayRef": {"name": "gw", "namespace": "ns"}}


@pytest.mark.parametrize(
    ("release", "spec", "expected"),
    [
        # Routes have no timeout (gateway_resources_modelrouter.go at v0.8.8).
        (
            "v0.8.8",
            {**GATEWAY, "rules": [to("a", timeout="30s")]},
            {"rules[0].timeout": "is ignored in this release"},
        ),
        # perRetry.timeout is "60s" (the same file at v0.8.9 to v0.8.15).
        ("v0.8.9", {**GATEWAY, "rules": [to("a", timeout="30m")]}, {"rules[0].timeout": "after 60 s, whatever"}),
        ("v0.8.15", {**GATEWAY, "rules": [to("a", timeout="30m")]}, {"rules[0].timeout": "after 60 s, whatever"}),
        ("v0.8.15", {**GATEWAY, "rules": [to("a", timeout="60s")]}, {}),
        # maxConfiguredRouterTimeout, since v0.8.16.
        ("v0.8.16", {**GATEWAY, "rules": [to("a", timeout="30m")]}, {}),
        ("v0.9.19", {**GATEWAY, "rules": [to("a", timeout="30m")]}, {}),
        ("v0.9.19", {**GATEWAY, "rules": [to("a")]}, {"rules[0].timeout": "is not set"}),
        (
            "v0.9.19",
            {**GATEWAY, "backends": [{**LOCAL, "timeout": "30m"}], "rules": [to("a")]},
            {"backends[0].timeout": "only rules have one", "rules[0].timeout": "is not set"},
        ),
        ("v0.9.19", {**GATEWAY, "backends": [{**LOCAL, "timeout": "5m"}], "rules": [to("a", timeout="5m")]}, {}),
        # --response-header-timeout of the proxy.
        ("v0.9.19", {"rules": [to("a", timeout="30m")]}, {"rules[0].timeout": "responseHeaderTimeout (120s)"}),
        ("v0.9.19", {"rules": [to("a", timeout="2m")]}, {}),
        ("v0.9.19", {"rules": [to("a", timeout="30m")], "proxy": {"responseHeaderTimeout": "30m"}}, {}),
        ("v0.9.19", {"rules": [to("a")]}, {}),
        # The route of defaultRoute has no timeouts.request in any release.
        ("v0.9.19", {**GATEWAY, "defaultRoute": "a"}, {"defaultRoute": "by a rule with a timeout"}),
        ("v0.8.12", {**GATEWAY, "defaultRoute": "a"}, {"defaultRoute": "choose release v0.8.16"}),
        ("v0.9.19", {"defaultRoute": "a"}, {}),
        ("v0.8.9", {**GATEWAY, "rules": [to("a")]}, {"rules[0].timeout": "after 60 s, even a stream, whatever"}),
        ("v0.8.15", {**GATEWAY, "rules": [to("a")]}, {"rules[0].timeout": "choose release v0.8.16"}),
    ],
)
def test_timeouts_that_do_not_last_as_long_as_they_say(release: str, spec: Object, expected: dict[str, str]) -> None:
    releases = {"llmkube": release}
    vllm = server(runtime="vllm", image="vllm/vllm-openai:v0.20.0", endpoint={"port": 8000})
    manifests = loaded([WEIGHTS, vllm, router(**spec)], releases=releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    fleet = render_fleet(manifests.resources, Options(realization=Realization.OPERATOR, releases=releases))
    found = {
        each.path: each.reason
        for each in fleet.problems
        if each.kind == "ModelRouter" and ("timeout" in each.path or each.path == "spec.defaultRoute")
    }
    assert found.keys() == {f"spec.{path}" for path in expected}
    for path, text in expected.items():
        assert text in found[f"spec.{path}"]


ALLOWED: Object = {
    "rules": [
        to("a", match={"models": ["m"], "headers": {"h": "v"}, "dataClassification": ["internal"]}, timeout="90s"),
    ],
    "policy": {
        "budgets": [{"name": "b", "scope": "team", "maxTokens": 1}],
        "auth": {"jwt": JWT, "allowlists": [{"team": "x"}, {"team": "y"}]},
    },
}


def test_what_the_gateway_supports_is_left_to_it() -> None:
    found = [each for each in errors(rendered(server(), WEIGHTS, gateway(**ALLOWED))) if each.kind == "ModelRouter"]
    assert not found, list(map(str, found))


def test_the_limits_of_the_gateway_are_none_of_the_proxy() -> None:
    match = {"taskComplexity": "simple", "requiredCapabilities": ["x"], "models": ["m"]}
    policy = {"auditLog": {"sink": "file", "filePath": "/a"}}
    proxy = {"quarantineDuration": "0", "responseHeaderTimeout": "1m30s"}
    document = router(rules=[to("a", match=match)], policy=policy, proxy=proxy)
    found = [each for each in errors(rendered(server(), WEIGHTS, document)) if each.kind == "ModelRouter"]
    assert not found, list(map(str, found))


@pytest.mark.parametrize(
    ("release", "url", "expected"),
    [
        ("v0.9.13", "https://api.example.org/v1", ["spec.backends[0].external"]),
        ("v0.9.14", "https://api.example.org/v1", []),
        ("v0.9.14", "api.example.org/v1", ["spec.backends[0].external.url"]),
    ],
)
def test_providers_behind_the_gateway_by_release(release: str, url: str, expected: list[str]) -> None:
    backend = {"name": "a", "tier": "cloud", "external": {"provider": "openai", "model": "m", "url": url}}
    releases = {"llmkube": release}
    manifests = loaded([gateway(backends=[backend])], releases=releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    fleet = render_fleet(manifests.resources, Options(realization=Realization.OPERATOR, releases=releases))
    assert [each.path for each in errors(fleet)] == expected
