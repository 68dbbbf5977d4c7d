"""ModelServers and the ModelRoute as Kthena's controllers write them (Kthena spec 2.6, 2.7)."""

import json
from collections.abc import Iterator

from .....contract.base import Json
from .....engines.registry import engines
from .....engines.settings import Setting
from .....fleet.objects import Object
from ...names import SERVING_LABEL, WORKLOAD_GROUP, backend_name
from ...types.model_booster import ModelBackend, ModelBoosterSpec, ModelWorker
from ..facts import facts
from .serving import ConversionError

_TRANSFER = (engines()["vllm"].flag(Setting.TRANSFER) or "").lstrip("-")
_ROLE = f"{SERVING_LABEL}/role"


def server_spec(model: str, backend: ModelBackend, uid: str) -> Object:
    """Return the spec of a backend's ModelServer: it selects the pods of all backends (D-01).

    Raises:
        ConversionError: a worker has no config (D-05), or its KV transfer config is malformed.
    """
    selector: Object = {"matchLabels": {f"{WORKLOAD_GROUP}/model-uid": uid}}
    if backend.type.endswith("Disaggregated"):
        selector["pdGroup"] = {
            "groupKey": f"{SERVING_LABEL}/group-name",
            "prefillLabels": {_ROLE: "prefill"},
            "decodeLabels": {_ROLE: "decode"},
        }
    spec = {
        "model": _served_name(model, backend),
        "inferenceEngine": "vLLM",
        "workloadSelector": selector,
        "workloadPort": {"port": 8000},
        # The router does not read it (D-21).
        "trafficPolicy": {"retry": {"attempts": 5, "retryInterval": "0s"}},
    }
    # The last worker with a known connector wins.
    connectors = list(_connectors(backend))
    return {**spec, "kvConnector": {"type": connectors[-1]}} if connectors else spec


def route_spec(model: str, spec: ModelBoosterSpec) -> Object:
    """Return the spec of the ModelRoute."""
    targets = [
        {"modelServerName": backend_name(model, backend.name), "weight": backend.route_weight}
        for backend in spec.all_backends
    ]
    adapters = sorted({adapter.name for backend in spec.all_backends for adapter in backend.lora_adapters or ()})
    match = spec.model_match.wire() if spec.model_match else None
    rules: list[Object] = [{"name": "default", **({"modelMatch": match} if match is not None else {})}]
    rules[0]["targetModels"] = targets
    if len(spec.all_backends) > 1:
        rules = [_rule("default", match, model, targets)]
        for name in adapters:
            with_adapter = [
                target
                for target, backend in zip(targets, spec.all_backends, strict=True)
                for adapter in backend.lora_adapters or ()
                if adapter.name == name
            ]
            rules.append(_rule(name, match, name, with_adapter))
    return {"modelName": model, **({"loraAdapters": adapters} if adapters else {}), "rules": rules}


def _rule(name: str, match: Object | None, model: str, targets: list[Object]) -> Object:
    return {"name": name, "modelMatch": {**(match or {}), "body": {"model": model}}, "targetModels": targets}


def _served_name(model: str, backend: ModelBackend) -> str:
    """Return the served name of the first server or decode worker; only one spelling of the flag is known."""
    for worker in backend.workers:
        if worker.type in ("server", "decode"):
            name = _config(worker).get("served-model-name")
            if isinstance(name, str):
                return name
    return model


def _connectors(backend: ModelBackend) -> Iterator[str]:
    for worker in backend.workers:
        if worker.type not in ("prefill", "decode"):
            continue
        text = _config(worker).get(_TRANSFER)
        if not isinstance(text, str):
            continue
        try:
            transfer = json.loads(text)
        except ValueError:
            raise ConversionError(f"the KV transfer config of worker {worker.type} is not JSON") from None
        if transfer is not None and not isinstance(transfer, dict):
            raise ConversionError(f"the KV transfer config of worker {worker.type} is not a JSON object")
        name = (transfer or {}).get("kv_connector")
        if isinstance(name, str) and name in facts().literal.connectors:
            yield facts().literal.connectors[name]


def _config(worker: ModelWorker) -> dict[str, Json]:
    if worker.config is None:
        raise ConversionError(f"worker of type {worker.type} has no config (D-05)")
    config: dict[str, Json] = worker.config
    return config
