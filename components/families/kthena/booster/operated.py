"""What Kthena's controllers get wrong of a ModelBooster: reported before it is left to them.

Kthena v0.1.0; the numbers are those of the register of its defects (Kthena spec 10).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ....contract.base import Json
from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....engines.registry import engines
from ....engines.settings import Setting
from ....fleet.objects import Object
from ....fleet.options import Options
from ..operated import Fault, check_options_for_operator
from .children.env import generated_env
from .children.pods import RUNTIME_PORT, runtime_port
from .children.serving import roles_of
from .facts import facts
from .setup import Part, RoleOf

_CONVERTED = "vLLM"
_PASSED_ON = ("ENDPOINT", "HF_ENDPOINT")
"""Variables that reach the downloader of the model."""
_READ_FROM_VALUE = {
    "RUNTIME_URL": "the runtime gets an empty address of the engine",
    "RUNTIME_METRICS_PATH": "the runtime asks for the engine's metrics at an empty path",
    "RUNTIME_PORT": f"the runtime listens at {RUNTIME_PORT}",
}
"""Variables that become arguments of the runtime (Kthena spec 2.2), and what becomes of those from elsewhere."""
_EXACT = 1_000_000
"""Numbers from here on are written with an exponent."""
_SPECIAL = set(" \t\n\"'`$&|;<>(){}[]*?!#~\\")
"""What a shell does not take for a part of a word."""
_DEVICES = ("nvidia.com/gpu", "huawei.com/ascend-1980")
_NATIVE = "use realization 'native'"


def check_booster_for_operator(parts: Sequence[Part], options: Options, findings: Findings) -> None:
    """Refuse what the controllers ignore or break, instead of dropping it silently."""
    check_options_for_operator(options, findings)
    if options.loader_image:
        findings.error(
            "",
            "the option 'loader_image' applies only to realization 'native'; Kthena's is configured",
            RuleId.SETTINGS,
        )
    for path, reason in (*_of_booster(parts), *(fault for part in parts for fault in _of_backend(part))):
        findings.error(path, _worded(reason), RuleId.OPERATOR_UNSUPPORTED)
    for path, reason in (doubt for part in parts for doubt in _doubts(part)):
        findings.warn(path, _worded(reason), RuleId.OPERATOR_DIFFERS)


def _worded(reason: str) -> str:
    """Word what the controller does; what to write instead stands behind a semicolon, if there is anything."""
    return f"Kthena's controller {reason}{', or ' if ';' in reason else '; '}{_NATIVE}"


def _of_booster(parts: Sequence[Part]) -> Iterator[Fault]:
    spec = parts[0].booster.spec
    if spec.autoscaling_policy is not None and spec.cost_expansion_rate_percent is None:
        yield (
            "spec.costExpansionRatePercent",
            "crashes without it, once it has made everything else (D-25); write 200, which is meant",
        )
    if spec.cost_expansion_rate_percent == 0:
        yield "spec.costExpansionRatePercent", "does not send 0, so that 200 applies (D-27); write 1"
    weights = {part.backend.route_weight for part in parts}
    if len(weights) > 1:
        path = f"{parts[0].path}.routeWeight"
        yield (
            path,
            "lets each ModelServer select the pods of all backends, so weights do nothing (D-01); make them equal",
        )
    adapters = [{each.name for each in part.backend.lora_adapters or ()} for part in parts]
    for part, own in zip(parts, adapters, strict=True):
        if any(own - others for others in adapters):
            path = f"{part.path}.loraAdapters"
            yield path, "sends requests for an adapter to the pods of all backends (D-01); give all of them the same"


def _of_backend(part: Part) -> Iterator[Fault]:
    backend = part.backend
    if backend.type != _CONVERTED:
        why = "selects none of the pods of prefill and decode, and pins them to Ascend910 nodes (D-02, D-24)"
        why += "; write its resources, which `workbench render --expand` prints"
        yield f"{part.path}.type", why if part.is_disaggregated else f"does not support {backend.type}; use vLLM"
        return
    yield from _of_cache(part)
    yield from _of_env(part)
    for role in roles_of(part):
        yield from _of_worker(role)
        yield from _of_config(role)
        if role.pods > 1:
            yield from _of_group(role)
    for path, text in _strings(part):
        if "${" in text:
            yield path, "takes ${NAME} for one of its own names, and fails on any other (D-26); write it without"


def _of_cache(part: Part) -> Iterator[Fault]:
    uri, path = part.backend.cache_uri, f"{part.path}.cacheURI"
    if uri is None:
        yield path, "mounts a cache without a path, so that pods are refused (D-03); write hostpath:///<folder>"
    elif not uri.startswith("hostpath:///"):
        yield path, f"mounts it at a path that is not absolute, found {uri!r} (D-04); write hostpath:///<folder>"


def _of_env(part: Part) -> Iterator[Fault]:
    generated = {each["name"] for each in generated_env(part.started, "", runtime=True)}
    for place, each in enumerate(part.env):
        if each["name"] in generated:
            twice = f"adds a second {each['name']}, so that the ModelServing is refused (D-30); remove it"
            yield f"{part.path}.env[{place}]", twice
    for name, lost in _READ_FROM_VALUE.items():
        from_elsewhere = part.place_from_elsewhere(name)
        if from_elsewhere is not None:
            why = f"reads {name} from value alone, and valueFrom as nothing, so that {lost}; write value"
            yield f"{part.path}.env[{from_elsewhere}]", why
    port = runtime_port(part)
    if port != RUNTIME_PORT and part.backend.autoscaling_policy:
        place = next(index for index, each in enumerate(part.env) if each["name"] == "RUNTIME_PORT")
        yield f"{part.path}.env[{place}]", f"reads metrics at port {RUNTIME_PORT} all the same; remove it"


def _of_worker(role: RoleOf) -> Iterator[Fault]:
    worker = role.worker
    for field, value in (("replicas", worker.replicas), ("pods", worker.pods)):
        if value is None:
            yield f"{role.path}.{field}", "takes it for 0, so that nothing runs (D-06); write 1"
    if worker.affinity:
        yield f"{role.path}.affinity", "ignores it (D-21); remove it"


def _of_config(role: RoleOf) -> Iterator[Fault]:
    path, engine = f"{role.path}.config", engines()[role.part.started.engine]
    if role.worker.config is None:
        yield path, "makes no ModelServer without it (D-05); write at least the name that clients ask for"
        return
    for key, value in sorted(role.config.items()):
        wrong = _written_wrong(value)
        if wrong:
            yield f"{path}.{key}", wrong
    name = (engine.flag(Setting.SERVED_NAME) or "").lstrip("-")
    if not isinstance(role.config.get(name), str):
        unknown = f"has the router ask for {role.part.model!r}, which the engine does not know"
        yield path, f"{unknown}; write {name}: {role.part.model}"
    port = (engine.flag(Setting.PORT) or "").lstrip("-")
    if port in role.config and str(role.config[port]) != str(engine.port):
        yield f"{path}.{port}", f"probes the engine at port {engine.port} all the same; remove it"


def _written_wrong(value: Json) -> str:
    """Return how a value of config is written wrong; empty where it is not (D-20)."""
    if isinstance(value, bool):
        fix = 'write "" for a flag without a value' if value else "remove it"
        return f"writes {str(value).lower()} behind the flag, which takes no value (D-20); {fix}"
    if isinstance(value, int | float) and abs(value) >= _EXACT:
        return f"writes it with an exponent (D-20); write it as text, '{value}'"
    if value is None:
        return "writes <nil> (D-20); remove it"
    if isinstance(value, dict | list):
        return f"writes it as Go prints it (D-20); write it as text, '{json.dumps(value)}'"
    return ""


def _of_group(role: RoleOf) -> Iterator[Fault]:
    """Yield what is lost where several pods are one replica: a shell starts the leader (D-07)."""
    if role.part.backend.lora_adapters:
        yield f"{role.part.path}.loraAdapters", "does not pass adapters on with several pods (D-07); use one pod"
    for key, value in sorted(role.config.items()):
        if isinstance(value, str) and _SPECIAL & set(value):
            yield f"{role.path}.config.{key}", "writes it into a script without quotes (D-07); use one pod"
    resources = role.worker.resources or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if any(key in limits and key not in requests for key in _DEVICES):
        yield f"{role.path}.resources", "counts devices in requests alone; write those of limits there too"


def _doubts(part: Part) -> Iterator[Fault]:
    """Yield what is lost where the engine still starts."""
    if part.backend.type != _CONVERTED:
        return
    lost = [each["name"] for each in part.env if _is_for_downloader(each)]
    if lost:
        names = ", ".join(lost)
        yield f"{part.path}.env", f"does not pass {names} on to the downloader of the model; put it into envFrom"
    for role in roles_of(part):
        if role.pods == 1:
            yield f"{role.path}.pods", "does not replace the only pod of an instance when it fails (D-13)"
        else:
            script = (
                "starts several pods by a script of Ascend's images, /vllm-workspace/vllm/examples/online_serving"
            )
            yield f"{role.path}.pods", f"{script}/multi-node-serving.sh; make sure that the image has it"


def _is_for_downloader(variable: Object) -> bool:
    passed_on = variable["name"] in _PASSED_ON and "value" in variable
    return variable["name"] in facts().downloader and not passed_on


def _strings(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the strings that a user may write anything into, each with its field."""
    written = part.backend.wire()
    for field in ("modelURI", "cacheURI", "env", "envFrom", "workers", "loraAdapters"):
        for text in _texts(written.get(field)):
            yield f"{part.path}.{field}", text


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401  any JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
