"""Problems of a ModelBooster under Kthena's controllers: unsupported, ignored and broken settings.

The numbers D-nn are those of the register of their defects (Kthena spec 10). Which releases have a defect was read in
volcano-sh/kthena at each tag (pkg/model-booster-controller).
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from ....contract.base import Json
from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.pairs.reading import transfer_of
from ....engines.settings import Setting
from ....fleet.options import Options
from ..controllers import Controllers
from ..names import VOLCANO
from ..serving.operator_checks import Defect, check_options_for_operator
from .command import config_arguments
from .context import BackendContext, BackendRole
from .facts import facts
from .serving import RUNTIME_PORT, generated_env, runtime_port
from .weights import downloader_of, path_of

_SUPPORTED, _PAIR = "vLLM", "vLLMDisaggregated"
_DOWNLOADER_VARIABLES = ("ENDPOINT", "HF_ENDPOINT")
"""Variables that the controllers pass on to the model's downloader."""
_RUNTIME_VARIABLES = {
    "RUNTIME_URL": "the runtime gets an empty address of the engine",
    "RUNTIME_METRICS_PATH": "the runtime reads the engine's metrics at an empty path",
    "RUNTIME_PORT": f"the runtime listens on {RUNTIME_PORT}",
}
"""Variables that become arguments of the runtime (Kthena spec 2.2), and the result if they have ``valueFrom``."""
_EXPONENT_FROM = 1_000_000
"""Numbers from here on are formatted with an exponent."""
_SHELL_CHARACTERS = set(" \t\n\"'`$&|;<>(){}[]*?!#~\\")
"""Characters that a shell does not take literally."""
_NATIVE = "use realization 'native'"


def check_booster_for_operator(backends: Sequence[BackendContext], options: Options, findings: Findings) -> None:
    """Reject settings that Kthena's controllers break, and warn about those that they ignore."""
    check_options_for_operator(options, findings)
    if options.loader_image:
        reason = "the option 'loader_image' applies only to realization 'native'; Kthena configures its own"
        findings.error("", reason, RuleId.SETTINGS)
    controllers = Controllers.of(findings.source)
    backend_errors = chain.from_iterable(_backend_errors(backend, controllers) for backend in backends)
    for path, reason in (*_booster_errors(backends), *backend_errors):
        findings.error(path, _message(reason), RuleId.OPERATOR_UNSUPPORTED)
    for path, reason in chain.from_iterable(_backend_warnings(backend, controllers) for backend in backends):
        findings.warn(path, _message(reason), RuleId.OPERATOR_DIFFERS)


def _message(reason: str) -> str:
    """Complete a message; its remedy, if it has one, follows a semicolon."""
    return f"Kthena's controller {reason}{', or ' if ';' in reason else '; '}{_NATIVE}"


def _booster_errors(backends: Sequence[BackendContext]) -> Iterator[Defect]:
    spec = backends[0].booster.spec
    is_optimized = spec.autoscaling_policy is not None and spec.backend is None
    if is_optimized and spec.cost_expansion_rate_percent is None:
        yield (
            "spec.costExpansionRatePercent",
            "crashes without it, after it has created everything else (D-25); set 200, the default",
        )
    if spec.cost_expansion_rate_percent == 0:
        yield "spec.costExpansionRatePercent", "omits 0, so that the default of 200 applies (D-27); set 1"
    if len({backend.spec.route_weight for backend in backends}) > 1:
        yield (
            f"{backends[0].path}.routeWeight",
            "lets each ModelServer select the pods of all backends, so weights have no effect (D-01); set equal ones",
        )
    adapters = [{adapter.name for adapter in backend.spec.lora_adapters or ()} for backend in backends]
    for backend, names in zip(backends, adapters, strict=True):
        if any(names - others for others in adapters):
            yield (
                f"{backend.path}.loraAdapters",
                "sends requests for an adapter to the pods of all backends (D-01); set the same for all",
            )


def _backend_errors(backend: BackendContext, controllers: Controllers) -> Iterator[Defect]:
    spec, path = backend.spec, backend.path
    if backend.is_disaggregated and controllers.until("v0.2.0"):
        yield (
            f"{path}.type",
            "selects none of the pods of prefill and decode, and pins them to Ascend910 nodes (D-02, D-24); write "
            "its resources, which `workbench render --expand` prints",
        )
        return
    if spec.type not in (_SUPPORTED, _PAIR):
        yield f"{path}.type", f"does not support {spec.type}; use vLLM"
        return

    yield from _cache_errors(backend, controllers)
    generated = {variable["name"] for variable in generated_env(backend.engine, "", runtime=True)}
    for index, name in enumerate(variable["name"] for variable in backend.env):
        if name in generated:
            yield (
                f"{path}.env[{index}]",
                f"adds a second {name}, so that the ModelServing is rejected (D-30); remove it",
            )
    for name, result in _RUNTIME_VARIABLES.items():
        value_from = backend.value_from_index(name)
        if value_from is not None:
            yield f"{path}.env[{value_from}]", f"ignores valueFrom of {name}, so that {result}; set value"
    policy = spec.autoscaling_policy or (backend.booster.spec.backend and backend.booster.spec.autoscaling_policy)
    if policy and backend.is_disaggregated:
        yield (
            "spec.autoscalingPolicy",
            "only measures pods of role 'leader', which prefill and decode are not; remove it",
        )
    if runtime_port(backend) != RUNTIME_PORT and policy:
        index = next(index for index, variable in enumerate(backend.env) if variable["name"] == "RUNTIME_PORT")
        yield f"{path}.env[{index}]", f"still reads metrics at port {RUNTIME_PORT}; remove it"

    for role in backend.roles:
        yield from _role_errors(role, controllers)
    fields = spec.wire()
    for field in ("modelURI", "cacheURI", "env", "envFrom", "workers", "loraAdapters"):
        for text in _strings(fields.get(field)):
            if "${" in text:
                reason = "takes ${NAME} for one of its own placeholders, and fails on any other (D-26); remove it"
                yield f"{path}.{field}", reason


def _cache_errors(backend: BackendContext, controllers: Controllers) -> Iterator[Defect]:
    uri, path = backend.spec.cache_uri, f"{backend.path}.cacheURI"
    if uri is None:
        yield path, "mounts a cache without a path, so that pods are rejected (D-03); set hostpath:///<folder>"
    elif not uri.startswith("hostpath:///") and controllers.until("v0.1.0"):
        reason = f"mounts it at a path that is not absolute, found {uri!r} (D-04); set hostpath:///<folder>"
        yield path, reason
    elif uri.startswith("pvc://") and controllers.until("v0.4.0"):
        claim = f"/{path_of(uri).strip('/')}"
        yield path, f"mounts the claim {claim!r}, a name that no claim can have (D-04); set hostpath:///<folder>"


def _role_errors(role: BackendRole, controllers: Controllers) -> Iterator[Defect]:
    path, engine = f"{role.path}.config", role.backend.engine.definition
    for field, value in (("replicas", role.worker.replicas), ("pods", role.worker.pods)):
        if value is None:
            yield f"{role.path}.{field}", "takes it for 0, so that nothing runs (D-06); set 1"
    if role.worker.affinity and controllers.until("v0.4.0"):
        yield f"{role.path}.affinity", "ignores it (D-21); remove it"

    # Since v0.2.0, only the connector of a pair is looked up in a config that must be there.
    if role.worker.config is None and (role.backend.is_disaggregated or controllers.until("v0.1.0")):
        yield path, "creates no ModelServer without it (D-05); set at least the model name of requests"
    else:
        for key, value in sorted(role.config.items()):
            reason = _formatting_error(value)
            if reason:
                yield f"{path}.{key}", reason
        name = (engine.flag(Setting.SERVED_NAME) or "").lstrip("-")
        if role.name == role.backend.roles[-1].name and not isinstance(role.config.get(name), str):
            model = role.backend.model
            yield (
                path,
                f"lets the router request the model {model!r}, which the engine does not serve; set {name}: {model}",
            )
        port = (engine.flag(Setting.PORT) or "").lstrip("-")
        if port in role.config and str(role.config[port]) != str(engine.port):
            yield f"{path}.{port}", f"still probes the engine at port {engine.port}; remove it"

    if role.backend.is_disaggregated:
        yield from _pair_errors(role)
        return
    if role.pods <= 1:
        return
    # A shell script starts the leader of a replica of several pods (D-07).
    if role.backend.spec.lora_adapters:
        yield f"{role.backend.path}.loraAdapters", "does not pass adapters on with several pods (D-07); use one pod"
    for key, value in sorted(role.config.items()):
        if isinstance(value, str) and _SHELL_CHARACTERS & set(value):
            yield f"{path}.{key}", "inserts it into a script without quotes (D-07); use one pod"
    resources = role.worker.resources or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    devices = ("nvidia.com/gpu", "huawei.com/ascend-1980") if controllers.until("v0.2.0") else ()
    if any(key in limits and key not in requests for key in devices):
        yield f"{role.path}.resources", "counts devices in requests only; add those of limits to requests"


def _pair_errors(role: BackendRole) -> Iterator[Defect]:
    """Yield problems of prefill or decode, which the controllers create since v0.3.0."""
    if role.pods > 1:
        yield f"{role.path}.pods", "runs prefill and decode in one pod each; set 1"
    backend = role.backend
    has_gpu = any((worker.resources or {}).get("limits", {}).get("nvidia.com/gpu") for worker in backend.spec.workers)
    transfer = transfer_of(
        CommandLine(backend.engine.definition.name, "", [w for w, _ in config_arguments(role)], ())
    )
    skipped = backend.literal_value("KTHENA_SKIP_ENGINE_DEPENDENCY_INSTALL") in ("true", "1")
    if not has_gpu or skipped or transfer is None or transfer.connector not in ("MooncakeConnector", "NixlConnector"):
        return
    for key, value in sorted(role.config.items()):
        if isinstance(value, str) and _SHELL_CHARACTERS & set(value):
            yield (
                f"{role.path}.config.{key}",
                f"installs {transfer.connector} at the start, in a script into which it inserts this without quotes "
                "(D-07); since v1.0.0, an image with the connector and KTHENA_SKIP_ENGINE_DEPENDENCY_INSTALL=true in "
                "env keep the arguments as they are",
            )


def _formatting_error(value: Json) -> str:
    """Return how the controllers misformat a value of config; empty if they do not (D-20)."""
    if isinstance(value, bool):
        remedy = 'set "" for a flag without a value' if value else "remove it"
        return f"adds {str(value).lower()} after the flag, which takes no value (D-20); {remedy}"
    if isinstance(value, int | float) and abs(value) >= _EXPONENT_FROM:
        return f"formats it with an exponent (D-20); set a string, '{value}'"
    if value is None:
        return "formats it as <nil> (D-20); remove it"
    if isinstance(value, dict | list):
        return f"formats it as Go prints it (D-20); set a string, '{json.dumps(value)}'"
    return ""


def _backend_warnings(backend: BackendContext, controllers: Controllers) -> Iterator[Defect]:
    if backend.spec.type not in (_SUPPORTED, _PAIR):
        return
    modelscope = facts().modelscope.variables if controllers.since("v0.4.0") else ()
    passed = (*_DOWNLOADER_VARIABLES, *modelscope)
    lost = [
        variable["name"]
        for variable in backend.env
        if variable["name"] in downloader_of(backend.spec.model_uri)[1]
        and not (variable["name"] in passed and "value" in variable)
    ]
    if lost:
        reason = f"does not pass {', '.join(lost)} on to the model's downloader; move it to envFrom"
        yield f"{backend.path}.env", reason
    together = backend.spec.scheduler_name == VOLCANO or not controllers.since("v0.1.0")
    if not together and any(role.pods > 1 for role in backend.roles):
        reason = "has the pods of a replica scheduled one by one without it; set volcano"
        yield f"{backend.path}.schedulerName", reason
    for role in backend.roles:
        if role.pods == 1 and controllers.until("v0.2.0"):
            yield f"{role.path}.pods", "does not replace the only pod of an instance when it fails (D-13)"
        if role.pods == 1:
            continue
        if controllers.until("v0.2.0"):
            script = "a script of Ascend's images, /vllm-workspace/vllm/examples/online_serving/multi-node-serving.sh"
        else:
            script = "the script examples/online_serving/multi-node-serving.sh of the image's working directory"
        yield f"{role.path}.pods", f"starts several pods with {script}; make sure that the image has it"


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401  any JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
