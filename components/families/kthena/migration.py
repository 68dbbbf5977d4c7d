"""Converts manifests of Kthena between releases whose forms differ.

Names are kept where a release can express them, because a renamed ModelServing has other pods. What upstream's
controllers name and create was read in volcano-sh/kthena at each tag: pkg/model-booster-controller/convert.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from ..leaderworkerset.rules import is_share, share
from ..migration import Batch, Fields, MigratedDocument, ReleaseStep, inserted, renamed
from .names import NETWORKING_API, SERVING_LABEL, VOLCANO, WORKLOAD_API, backend_name

_ROLE = f"{SERVING_LABEL}/role"
_SERVED_NAME = "served-model-name"


def _each(kind: str, convert: Callable[[Batch, MigratedDocument, Fields], None]) -> Callable[[Batch], None]:
    """Return a conversion of every document of a kind that has a spec."""

    def converted(batch: Batch) -> None:
        for document in batch.of_kind(kind):
            spec = document.value.get("spec")
            if isinstance(spec, dict):
                convert(batch, document, spec)

    return converted


def _together(*conversions: Callable[[Batch], None]) -> Callable[[Batch], None]:
    def converted(batch: Batch) -> None:
        for conversion in conversions:
            conversion(batch)

    return converted


def _nothing(_batch: Batch) -> None:
    """Convert nothing: in this direction, the target accepts the form, or a misfit is removed."""


def _beside(document: MigratedDocument, api_version: str, kind: str, name: str, spec: Fields) -> Fields:
    """Return a new manifest in the namespace of another one."""
    namespace = {"namespace": document.namespace} if document.namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **namespace}, "spec": spec}


def _insert_behind(owner: Fields, key: str, name: str, value: Any) -> None:  # noqa: ANN401  any YAML value
    keys = list(owner)
    inserted(owner, keys.index(key) + 1 if key in keys else len(keys), name, value)


def _role_of(backend: Fields) -> str:
    return "decode" if str(backend.get("type", "")).endswith("Disaggregated") else "leader"


# v0.1.0 and v0.2.0: one backend instead of several


def _one_backend(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    backends = spec.get("backends")
    if not isinstance(backends, list) or not backends or not all(isinstance(item, dict) for item in backends):
        return
    if len(backends) > 1:
        _split_booster(batch, document, spec, backends)
        return
    (backend,) = backends
    renamed(spec, "backends", "backend")
    spec["backend"] = backend
    if "routeWeight" in backend:
        del backend["routeWeight"]
        batch.note(document, "spec.backends[0].routeWeight", "has no effect for the only backend, and is removed")
    if "autoscalingPolicy" in spec:
        for owner, path, field in (
            (spec, "spec", "costExpansionRatePercent"),
            (backend, "spec.backends[0]", "scalingCost"),
            (backend, "spec.backends[0]", "scaleToZeroGracePeriod"),
        ):
            if field in owner:
                del owner[field]
                batch.note(document, f"{path}.{field}", "has no effect for the only backend, and is removed")
        serving = backend_name(document.name, str(backend.get("name", "")))
        reason = f"natively its HorizontalPodAutoscaler {document.name}-{serving} becomes {serving}"
        batch.note(document, "spec.autoscalingPolicy", reason)
    elif "autoscalingPolicy" in backend:
        _insert_behind(spec, "backend", "autoscalingPolicy", backend.pop("autoscalingPolicy"))


def _split_booster(batch: Batch, document: MigratedDocument, spec: Fields, backends: list[Fields]) -> None:
    """Convert several backends into a booster for each, behind one ModelRoute.

    A booster always routes its own name, so none of the new ones may be named like the old one, whose name the
    ModelRoute has. Backend ``a-b`` of ``m`` becomes backend ``b`` of ``m-a``, whose ModelServing is ``m-a-b`` as
    before. Without a dash, there is no such name, and the ModelServing is renamed.
    """
    model, taken = document.name, _taken_names(batch, document)
    policy, rate = spec.pop("autoscalingPolicy", None), spec.pop("costExpansionRatePercent", None)
    match, shared = spec.pop("modelMatch", None), {key: spec[key] for key in ("name", "owner") if key in spec}
    metadata = document.value["metadata"]
    last, targets, params = document, [], []
    for index, backend in enumerate(backends):
        path, old = f"spec.backends[{index}]", str(backend.get("name", ""))
        booster, own = _names_of(model, old, taken)
        taken.add(booster)
        serving = backend_name(booster, own)
        if serving != backend_name(model, old):
            reason = f"ModelServing {backend_name(model, old)} becomes {serving}, so its pods are replaced"
            batch.loss(document, f"{path}.name", reason)
        if "loraAdapters" in backend:
            batch.loss(document, f"{path}.loraAdapters", "boosters have no adapters since v0.2.0")
            del backend["loraAdapters"]
        backend["name"] = own
        targets.append({"modelServerName": serving, **_moved(backend, routeWeight="weight")})
        if policy is not None:
            params.append(_param(batch, document, path, backend, serving))
        _serve_under(backend, model)
        value = document.value
        new_spec: Fields = {**shared, "backend": backend}
        if "autoscalingPolicy" in backend:
            new_spec["autoscalingPolicy"] = backend.pop("autoscalingPolicy")
        if index == 0:
            metadata["name"] = booster
            renamed(spec, "backends", "backend")
            spec.update(new_spec)
        else:
            value = {**document.value, "metadata": {**copy.deepcopy(metadata), "name": booster}, "spec": new_spec}
            last = batch.add(value, after=last)
    rule: Fields = {"name": "default", **({"modelMatch": match} if match else {}), "targetModels": targets}
    route = _beside(document, NETWORKING_API, "ModelRoute", model, {"modelName": model, "rules": [rule]})
    last = batch.add(route, after=last)
    batch.note(
        last, "", "takes the place of the route that the booster had; each new booster also routes its own name"
    )
    if policy is not None:
        last = batch.add(_beside(document, WORKLOAD_API, "AutoscalingPolicy", model, policy), after=last)
        optimizer = {"params": params, **({} if rate is None else {"costExpansionRatePercent": rate})}
        binding = {"policyRef": {"name": model}, "heterogeneousTarget": optimizer}
        batch.add(_beside(document, WORKLOAD_API, "AutoscalingPolicyBinding", model, binding), after=last)


def _taken_names(batch: Batch, document: MigratedDocument) -> set[str]:
    """Return the names that no new booster may have: those of boosters and of routes in its namespace."""
    kinds = (*batch.of_kind("ModelBooster"), *batch.of_kind("ModelRoute"))
    return {other.name for other in kinds if other.namespace == document.namespace}


def _names_of(model: str, backend: str, taken: set[str]) -> tuple[str, str]:
    """Return the names of a booster and of its backend, if possible such that its ModelServing keeps its name."""
    whole = backend_name(model, backend)
    for position in range(len(whole) - 1, len(model), -1):
        booster, own = whole[:position], whole[position + 1 :]
        if whole[position] == "-" and own[:1].isalnum() and booster[-1:].isalnum() and booster not in taken:
            return booster, own
    booster, number = whole, 2
    while booster in taken:
        booster, number = f"{whole}-{number}", number + 1
    return booster, backend


def _moved(owner: Fields, **names: str) -> Fields:
    """Remove fields and return those that are set, under their new names."""
    return {new: owner.pop(old) for old, new in names.items() if old in owner}


def _param(batch: Batch, document: MigratedDocument, path: str, backend: Fields, serving: str) -> Fields:
    """Return a target of a binding for a backend, and fix the replicas of the backend itself."""
    if "scaleToZeroGracePeriod" in backend:
        del backend["scaleToZeroGracePeriod"]
        batch.note(document, f"{path}.scaleToZeroGracePeriod", "has no effect, and is removed")
    least, most = backend.get("minReplicas"), backend.get("maxReplicas")
    selector = {"labelSelector": {"matchLabels": {_ROLE: _role_of(backend)}}}
    target = {"targetRef": {"kind": "ModelServing", "name": serving}, "metricEndpoint": selector}
    param = {"target": target, **_moved(backend, scalingCost="cost"), "minReplicas": least, "maxReplicas": most}
    if least == 0:
        batch.note(document, f"{path}.minReplicas", "starts with 1 replica, before the binding scales it down to 0")
    for field in ("minReplicas", "maxReplicas"):
        backend[field] = least or 1
    return param


def _serve_under(backend: Fields, model: str) -> None:
    """Let engines keep the name of the model, which by default is that of the booster."""
    for worker in backend.get("workers") or ():
        if isinstance(worker, dict) and worker.get("type", "server") in ("server", "prefill", "decode"):
            config = worker.get("config")
            if not isinstance(config, dict):
                worker["config"] = {_SERVED_NAME: model}
            elif not config.keys() & {_SERVED_NAME, _SERVED_NAME.replace("-", "_")}:
                config[_SERVED_NAME] = model


def _list_of_backends(_batch: Batch, _document: MigratedDocument, spec: Fields) -> None:
    backend = spec.get("backend")
    if not isinstance(backend, dict) or "backends" in spec:
        return
    if "autoscalingPolicy" in spec:
        backend["autoscalingPolicy"] = spec.pop("autoscalingPolicy")
    renamed(spec, "backend", "backends")
    spec["backends"] = [backend]


# v0.1.0 and v0.2.0: bindings


_TARGETS = {"scalingConfiguration": "homogeneousTarget", "optimizerConfiguration": "heterogeneousTarget"}


def _targets_in(spec: Fields, *fields: str) -> Iterator[tuple[str, Fields]]:
    """Yield the targets in fields of a binding or policy, each with its path below the spec."""
    for field in fields:
        value = spec.get(field)
        if not isinstance(value, dict):
            continue
        params = value.get("params")
        items = [(field, value)]
        if isinstance(params, list):
            items = [(f"{field}.params[{index}]", item) for index, item in enumerate(params)]
        for path, item in items:
            if isinstance(item, dict) and isinstance(item.get("target"), dict):
                yield f"{path}.target", item["target"]


def _named_targets(_batch: Batch, _document: MigratedDocument, spec: Fields) -> None:
    for old, new in _TARGETS.items():
        renamed(spec, old, new)
    for _, target in _targets_in(spec, *_TARGETS.values()):
        if "additionalMatchLabels" not in target:
            continue
        labels = {"matchLabels": target.pop("additionalMatchLabels")}
        if isinstance(target.get("metricEndpoint"), dict):
            target["metricEndpoint"]["labelSelector"] = labels
        else:
            target["metricEndpoint"] = {"labelSelector": labels}


def _configurations(_batch: Batch, _document: MigratedDocument, spec: Fields) -> None:
    for new, old in _TARGETS.items():
        renamed(spec, old, new)
    for _, target in _targets_in(spec, *_TARGETS):
        endpoint = target.get("metricEndpoint")
        selector = endpoint.get("labelSelector") if isinstance(endpoint, dict) else None
        if not isinstance(selector, dict) or selector.keys() - {"matchLabels"}:
            continue  # a selector with expressions is not accepted, and so is listed
        assert isinstance(endpoint, dict)  # noqa: S101  it has the selector
        target["additionalMatchLabels"] = selector.get("matchLabels") or {}
        del endpoint["labelSelector"]
        if not endpoint:
            del target["metricEndpoint"]


# v0.1.0 and v0.2.0: ModelServings


def _topology_of(spec: Fields) -> tuple[Fields, Fields] | None:
    template = spec.get("template")
    topology = template.get("networkTopology") if isinstance(template, dict) else None
    return (template, topology) if isinstance(topology, dict) and isinstance(template, dict) else None


def _group_policy(_batch: Batch, _document: MigratedDocument, spec: Fields) -> None:
    found = _topology_of(spec)
    if found is None or found[1].keys() & {"groupPolicy", "rolePolicy"}:
        return
    template, topology = found
    # It was the default; a policy of a group has none.
    topology.setdefault("highestTierAllowed", 1)
    template["networkTopology"] = {"groupPolicy": topology}


def _whole_topology(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    if not spec.get("schedulerName"):
        inserted(spec, 0, "schedulerName", VOLCANO)
    elif spec["schedulerName"] != VOLCANO:
        batch.loss(document, "spec.schedulerName", f"must be {VOLCANO}, found {spec['schedulerName']}")
        spec["schedulerName"] = VOLCANO
    found = _topology_of(spec)
    if found is None or not isinstance(found[1].get("groupPolicy"), dict):
        return
    _, topology = found
    policy = topology.pop("groupPolicy")
    if "highestTierAllowed" not in policy:
        path = "spec.template.networkTopology.groupPolicy"
        batch.loss(document, path, "has no highestTierAllowed, which is 1 by default in this release")
    for field in ("mode", "highestTierAllowed"):
        if field in policy:
            topology[field] = policy.pop(field)
    if policy:
        topology["groupPolicy"] = policy  # what the older form cannot express is listed


# v0.2.0 to v0.4.0: ModelServings


def _gang_of_instances(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    """Limit the gang to the instances of each role: larger numbers, accepted until v0.2.0, mean all of them."""
    template = spec.get("template")
    gang = template.get("gangPolicy") if isinstance(template, dict) else None
    least = gang.get("minRoleReplicas") if isinstance(gang, dict) else None
    if not isinstance(least, dict) or not isinstance(template, dict):
        return
    for role in template.get("roles") or ():
        name, replicas = (role.get("name"), role.get("replicas", 1)) if isinstance(role, dict) else (None, 1)
        if isinstance(least.get(name), int) and isinstance(replicas, int) and least[name] > replicas:
            path = f"spec.template.gangPolicy.minRoleReplicas.{name}"
            batch.note(document, path, f"becomes {replicas}, which it amounts to: the role has no more instances")
            least[name] = replicas


def _whole_partition(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    strategy = spec.get("rolloutStrategy")
    update = strategy.get("rollingUpdateConfiguration") if isinstance(strategy, dict) else None
    partition = update.get("partition") if isinstance(update, dict) else None
    replicas = spec.get("replicas", 1)
    if partition is None or not isinstance(update, dict) or not isinstance(replicas, int):
        return
    path = "spec.rolloutStrategy.rollingUpdateConfiguration.partition"
    if isinstance(partition, str) and is_share(partition):
        update["partition"] = partition = share(partition, replicas, up=True)
        batch.note(document, path, f"becomes {partition}, that share of {replicas} replicas")
    if isinstance(partition, int) and partition >= replicas:
        batch.loss(document, path, f"must be below the {replicas} replicas in this release, found {partition}")
        del update["partition"]


# v0.4.0 and v1.0.0: policies that name their targets


def _fixed_replicas(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    backend = spec.get("backend")
    if not isinstance(backend, dict) or "replicas" in backend or "minReplicas" not in backend:
        return
    least, most = backend["minReplicas"], backend.pop("maxReplicas", None)
    renamed(backend, "minReplicas", "replicas")
    policy = spec.pop("autoscalingPolicy", None)
    if policy is None:
        return
    name = backend_name(document.name, str(backend.get("name", "")))
    _name_metrics(policy)
    policy["homogeneousTarget"] = {
        "target": {
            "targetRef": {"kind": "ModelServing", "name": name},
            "metricSources": {key: _booster_source(backend) for key in _keys(policy)},
        },
        "minReplicas": least,
        "maxReplicas": most,
    }
    batch.add(_beside(document, WORKLOAD_API, "AutoscalingPolicy", name, policy), after=document)


def _booster_source(backend: Fields) -> Fields:
    """Return the source of a metric in what the controllers generate for the policy of a booster."""
    return {"pod": {"labelSelector": {"matchLabels": {_ROLE: _role_of(backend)}}}}


def _keys(policy: Fields) -> list[str]:
    return [str(metric.get("name", metric.get("metricName"))) for metric in policy.get("metrics") or ()]


def _name_metrics(policy: Fields) -> None:
    for metric in policy.get("metrics") or ():
        renamed(metric, "metricName", "name")


def _merge_bindings(batch: Batch) -> None:
    """Move the targets of bindings into their policies.

    A policy is named after its binding, so that the autoscaler keeps its name. Where several bindings share a policy,
    each gets a copy.
    """
    policies = {(item.namespace, item.name): item for item in batch.of_kind("AutoscalingPolicy")}
    original = {key: copy.deepcopy(item.value) for key, item in policies.items()}
    used: set[tuple[str, str]] = set()
    for binding in batch.of_kind("AutoscalingPolicyBinding"):
        spec = binding.value.get("spec") or {}
        key = (binding.namespace, str((spec.get("policyRef") or {}).get("name", "")))
        if key not in policies:
            reason = f"names the policy {key[1]!r}, which is not among the manifests, so they cannot be merged"
            batch.loss(binding, "spec.policyRef.name", reason)
            continue
        own_key = (binding.namespace, binding.name)
        if own_key != key and own_key in policies:
            reason = f"cannot become a policy of its own name, which another policy has: {binding.name!r}"
            batch.loss(binding, "metadata.name", reason)
            continue
        first = key not in used
        used.add(key)
        policy = policies[key] if first else batch.add(copy.deepcopy(original[key]), after=binding)
        _merge(batch, policy, binding, spec)
        batch.remove(binding, into=policy)
    for key, policy in policies.items():
        policy_spec = policy.value.get("spec")
        if isinstance(policy_spec, dict) and not policy_spec.keys() & {*_TARGETS.values(), "disaggregatedTarget"}:
            _name_metrics(policy_spec)
            if key not in used:
                reason = "is named by no binding, and since v1.0.0 a policy must name its target itself"
                batch.loss(policy, "spec", reason)


def _merge(batch: Batch, policy: MigratedDocument, binding: MigratedDocument, binding_spec: Fields) -> None:
    spec, metadata = policy.value["spec"], policy.value["metadata"]
    if policy.name != binding.name:
        reason = f"is renamed to {binding.name}, the name of its binding, so that the autoscaler keeps its name"
        batch.note(policy, "metadata.name", reason)
        metadata["name"] = binding.name
    for field in ("labels", "annotations"):
        for key, value in ((binding.value.get("metadata") or {}).get(field) or {}).items():
            metadata.setdefault(field, {}).setdefault(key, value)
    _name_metrics(spec)
    keys = _keys(spec)
    for field in _TARGETS.values():
        if field in binding_spec:
            spec[field] = binding_spec[field]
    scaled_role = None
    for path, target in _targets_in(spec, *_TARGETS.values()):
        sources = {key: {"pod": copy.deepcopy(target.get("metricEndpoint") or {})} for key in keys}
        if "metricEndpoint" in target:
            renamed(target, "metricEndpoint", "metricSources")
        target["metricSources"] = sources
        if "subTargets" in target and path.startswith("homogeneousTarget"):
            scaled_role = target.pop("subTargets")
        # Below heterogeneousTarget, it is not accepted, and so is listed.
    if scaled_role is not None:
        _scale_role(spec, str(scaled_role.get("name", "")))


def _scale_role(spec: Fields, role: str) -> None:
    """Replace a homogeneous target by that of one role."""
    bounded = spec["homogeneousTarget"]
    renamed(spec, "homogeneousTarget", "disaggregatedTarget")
    bounds = {field: bounded[field] for field in ("minReplicas", "maxReplicas") if field in bounded}
    sources = bounded["target"]["metricSources"]
    spec["disaggregatedTarget"] = {
        "targetRef": bounded["target"]["targetRef"],
        "roles": {role: {**bounds, "metricSources": sources}},
    }


def _split_policies(batch: Batch) -> None:
    """Move the targets of policies into bindings, or into the booster that they scale."""
    boosters = {}
    for booster in batch.of_kind("ModelBooster"):
        backend = (booster.value.get("spec") or {}).get("backend")
        if isinstance(backend, dict):
            boosters[booster.namespace, backend_name(booster.name, str(backend.get("name", "")))] = booster
    bound = {(item.namespace, item.name) for item in batch.of_kind("AutoscalingPolicyBinding")}
    for policy in batch.of_kind("AutoscalingPolicy"):
        spec = policy.value.get("spec")
        if not isinstance(spec, dict):
            continue
        owner = boosters.get((policy.namespace, policy.name))
        if owner is not None and _is_of_booster(policy, owner):
            _fold(batch, policy, owner)
            continue
        if spec.keys() & {*_TARGETS.values(), "disaggregatedTarget"} and (policy.namespace, policy.name) not in bound:
            _bind(batch, policy, spec)
        for metric in spec.get("metrics") or ():
            renamed(metric, "name", "metricName")


def _is_of_booster(policy: MigratedDocument, booster: MigratedDocument) -> bool:
    """Return whether a booster can have a policy itself: with what its controllers generate for one."""
    spec, backend = policy.value["spec"], booster.value["spec"]["backend"]
    target = spec.get("homogeneousTarget")
    expected = {key: _booster_source(backend) for key in _keys(spec)}
    return (
        isinstance(target, dict)
        and "replicas" in backend
        and "autoscalingPolicy" not in booster.value["spec"]
        and not (policy.value.get("metadata") or {}).keys() - {"name", "namespace"}
        and target.get("minReplicas") == backend["replicas"]
        and target.get("target")
        == {"targetRef": {"kind": "ModelServing", "name": policy.name}, "metricSources": expected}
    )


def _fold(batch: Batch, policy: MigratedDocument, booster: MigratedDocument) -> None:
    spec, owner = policy.value["spec"], booster.value["spec"]
    target = spec.pop("homogeneousTarget")
    for metric in spec.get("metrics") or ():
        renamed(metric, "name", "metricName")
    renamed(owner["backend"], "replicas", "minReplicas")
    _insert_behind(owner["backend"], "minReplicas", "maxReplicas", target["maxReplicas"])
    _insert_behind(owner, "backend", "autoscalingPolicy", spec)
    batch.remove(policy, into=booster)


def _bind(batch: Batch, policy: MigratedDocument, spec: Fields) -> None:
    """Move the targets of a policy into a binding of the same name."""
    binding: Fields = {"policyRef": {"name": policy.name}}
    roles = (spec.get("disaggregatedTarget") or {}).get("roles")
    if isinstance(roles, dict):
        target = spec["disaggregatedTarget"]
        if len(roles) > 1 or "ratioConstraint" in target:
            return  # it is not accepted, and so is listed
        ((name, role),) = roles.items()
        if role.get("metrics"):
            spec["metrics"] = role["metrics"]
        del spec["disaggregatedTarget"]
        scaled = {"targetRef": target["targetRef"], "subTargets": {"kind": "Role", "name": name}}
        scaled |= {"metricSources": role.get("metricSources") or {}}
        bounds = {field: role[field] for field in ("minReplicas", "maxReplicas") if field in role}
        binding["homogeneousTarget"] = {"target": scaled, **bounds}
    for field in _TARGETS.values():
        if field in spec:
            binding[field] = spec.pop(field)
    for path, target in _targets_in(binding, *_TARGETS.values()):
        _endpoint_of(batch, policy, spec, f"spec.{path}", target)
    batch.add(_beside(policy, WORKLOAD_API, "AutoscalingPolicyBinding", policy.name, binding), after=policy)


def _endpoint_of(batch: Batch, policy: MigratedDocument, spec: Fields, path: str, target: Fields) -> None:
    """Replace the sources of the metrics by one endpoint, and list what differs between them."""
    sources = target.get("metricSources")
    if not isinstance(sources, dict):
        return
    endpoints = []
    for metric in spec.get("metrics") or ():
        key = metric.get("name", metric.get("metricName"))
        source = sources.get(key)
        where = f"{path}.metricSources.{key}"
        if not isinstance(source, dict):
            batch.loss(policy, where, "has no source, and is then ignored; in this release it is read from the pods")
        elif "prometheus" in source:
            batch.loss(policy, f"{where}.prometheus", "metrics only come from pods in this release")
        else:
            endpoint = dict(source.get("pod") or {})
            if "name" in endpoint and "name" in metric:
                metric["name"] = endpoint.pop("name")
                if metric["name"] != key:
                    reason = f"is {metric['name']} now, as pods export it: metrics have no name of their own"
                    batch.note(policy, where, reason)
            endpoints.append((where, endpoint))
    for where, endpoint in endpoints[1:]:
        if endpoint != endpoints[0][1]:
            batch.loss(policy, where, "is read elsewhere than the first metric, and a target has one endpoint")
    renamed(target, "metricSources", "metricEndpoint")
    target["metricEndpoint"] = endpoints[0][1] if endpoints else {}


def _bounded_replicas(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    backend = spec.get("backend")
    if not isinstance(backend, dict) or "replicas" not in backend:
        return
    renamed(backend, "replicas", "minReplicas")
    if backend["minReplicas"] == 0:
        batch.loss(document, "spec.backend.replicas", "must be at least 1 in this release without a policy, found 0")
        backend["minReplicas"] = 1
    _insert_behind(backend, "minReplicas", "maxReplicas", backend["minReplicas"])


STEPS = (
    ReleaseStep(
        "v0.1.0",
        "v0.2.0",
        forward=_together(
            _each("ModelBooster", _one_backend),
            _each("AutoscalingPolicyBinding", _named_targets),
            _each("ModelServing", _group_policy),
        ),
        backward=_together(
            _each("ModelBooster", _list_of_backends),
            _each("AutoscalingPolicyBinding", _configurations),
            _each("ModelServing", _whole_topology),
        ),
    ),
    ReleaseStep("v0.2.0", "v0.3.0", forward=_each("ModelServing", _gang_of_instances), backward=_nothing),
    ReleaseStep("v0.3.0", "v0.4.0", forward=_nothing, backward=_each("ModelServing", _whole_partition)),
    ReleaseStep(
        "v0.4.0",
        "v1.0.0",
        forward=_together(_each("ModelBooster", _fixed_replicas), _merge_bindings),
        backward=_together(_split_policies, _each("ModelBooster", _bounded_replicas)),
    ),
)
