"""The ModelServer of a backend and the ModelRoute of its booster (Kthena spec 2.6, 2.7)."""

from collections.abc import Iterator, Sequence

from ....contract.names import is_dns1035_label, is_dns1123_label
from ....engines.pairs.reading import transfer_of
from ....fleet.objects import Object, new_object
from ..names import NETWORKING_API, SERVING_LABEL, WORKLOAD_GROUP
from ..routing.rules import RoutingRule
from ..types.networking import MAX_ADAPTERS, MAX_MODEL, MAX_PORT, MAX_TARGETS
from .command import Commands
from .context import DECODE, PREFILL, BackendContext, labels_of, metadata_of, uid_of
from .serving import RoleCommands

RuleTargets = tuple[tuple[str, int], ...]
"""Names of ModelServers and their weights."""


def server_of(backend: BackendContext, roles: RoleCommands) -> Object:
    """Return the ModelServer of a backend, which selects the pods of no other backend (D-01)."""
    front = roles[-1][1]
    selector: Object = {
        "matchLabels": {
            f"{WORKLOAD_GROUP}/backend-name": backend.spec.name,
            f"{WORKLOAD_GROUP}/model-uid": uid_of(backend.namespace, backend.model),
        }
    }
    if backend.is_disaggregated:
        selector["pdGroup"] = {
            "groupKey": f"{SERVING_LABEL}/group-name",
            "prefillLabels": {f"{SERVING_LABEL}/role": PREFILL},
            "decodeLabels": {f"{SERVING_LABEL}/role": DECODE},
        }
    spec: Object = {
        "model": front.served,
        "inferenceEngine": backend.engine.serves,
        "workloadSelector": selector,
        "workloadPort": {"port": front.port},
        "trafficPolicy": {"retry": {"attempts": 5, "retryInterval": "0s"}},
    }
    if backend.is_disaggregated:
        transfers = (transfer_of(commands.entry) for _, commands in reversed(roles))
        connectors = (transfer.router for transfer in transfers if transfer)
        # A connector that Kthena's router does not support is reported where the pair is rendered.
        supported = (name for name in connectors if name in ("http", "lmcache", "nixl", "mooncake"))
        connector = next(supported, "")
        spec |= {"kvConnector": {"type": connector}} if connector else {}
    body = new_object(NETWORKING_API, "ModelServer", backend.name, backend.namespace, spec)
    return {**body, "metadata": metadata_of(backend.name, backend.namespace, backend.labels, spec)}


def route_of(backends: Sequence[BackendContext]) -> Object:
    """Return the ModelRoute: the booster's name leads to all backends, an adapter's name to those that have it."""
    booster, namespace = backends[0].booster, backends[0].namespace
    model = booster.metadata.name
    adapters = adapter_names(backends)
    booster_match = booster.spec.model_match.wire() if booster.spec.model_match else {}
    rules = []
    for name, rule_model, targets in _rules(backends):
        match = booster_match if rule_model is None else {**booster_match, "body": {"model": rule_model}}
        target_models = [{"modelServerName": server, "weight": weight} for server, weight in targets]
        rules.append({"name": name, **({"modelMatch": match} if match else {}), "targetModels": target_models})
    spec: Object = {"modelName": model, **({"loraAdapters": adapters} if adapters else {}), "rules": rules}
    body = new_object(NETWORKING_API, "ModelRoute", model, namespace, spec)
    return {**body, "metadata": metadata_of(model, namespace, labels_of(model, namespace), spec)}


def route_rules(backends: Sequence[BackendContext]) -> tuple[RoutingRule, ...]:
    """Return the rules of the ModelRoute without creating it."""
    match = backends[0].booster.spec.model_match
    return tuple(
        RoutingRule.create(index, name, match, targets, model)
        for index, (name, model, targets) in enumerate(_rules(backends))
    )


def adapter_names(backends: Sequence[BackendContext]) -> list[str]:
    return sorted({adapter.name for backend in backends for adapter in backend.spec.lora_adapters or ()})


def _rules(backends: Sequence[BackendContext]) -> Iterator[tuple[str, str | None, RuleTargets]]:
    """Yield each rule: its name, the model that requests must name, and its targets."""

    def targets(selected: Sequence[BackendContext]) -> RuleTargets:
        return tuple((backend.name, backend.spec.route_weight) for backend in selected)

    if len(backends) == 1:
        yield "default", None, targets(backends)
        return
    yield "default", backends[0].model, targets(backends)
    for name in adapter_names(backends):
        having = [b for b in backends if any(adapter.name == name for adapter in b.spec.lora_adapters or ())]
        yield name, name, targets(having)


def needs_router(backends: Sequence[BackendContext]) -> bool:
    """Return whether Kthena's router, which reads these resources, may be needed: for pairs, and for paths."""
    match = backends[0].booster.spec.model_match
    return (match is not None and match.uri is not None) or any(backend.is_disaggregated for backend in backends)


def is_valid(backends: Sequence[BackendContext], fronts: Sequence[Commands]) -> bool:
    """Return whether the ModelServers and the ModelRoute of a booster would be valid; False if unsure.

    They contain names, a port and lists of the booster. Each limit of their types that the booster's own types do not
    imply is tested here. If one of them may be violated, the resources are created, and rejected with the messages of
    their types.

    Args:
        backends: The backends.
        fronts: The command lines of the pods of each backend that receive requests.
    """
    return (
        len(backends) <= MAX_TARGETS
        and len(adapter_names(backends)) <= MAX_ADAPTERS
        and is_dns1123_label(backends[0].namespace)
        and is_dns1035_label(backends[0].model)
        and all(
            # A name that is a label is made of labels.
            is_dns1035_label(backend.name) and len(front.served) <= MAX_MODEL and 1 <= front.port <= MAX_PORT
            for backend, front in zip(backends, fronts, strict=True)
        )
    )
