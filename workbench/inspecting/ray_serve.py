"""What the configuration of Ray Serve in a RayService tells: its engine, its models, and its replicas.

Sources: ray-project/ray, python/ray/serve/schema.py (ServeDeploySchema) and python/ray/llm/_internal/serve
(build_openai_app starts vLLM); ray-project/kuberay at feeaf72f, ray-operator/config/samples.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from components.contract.documents.reader import YamlError, read_documents
from components.engines.signs import servers

_LLM = "ray.serve.llm:"
_OWN_PROGRAM, _VLLM = "ray-serve", "vllm"


class RayServe(NamedTuple):
    """The applications of a RayService.

    Attributes:
        engine: vLLM for Ray's own application for language models, otherwise a program of one's own.
        models: The models that it names.
        minimum: Lower bound of the replicas; None without an autoscaler.
        maximum: Upper bound.
    """

    engine: str
    models: tuple[str, ...]
    minimum: int | None
    maximum: int | None


def read_ray_serve(text: object) -> RayServe | None:
    """Return what a configuration tells; None if it is not readable."""
    try:
        value = next(read_documents(text)).value if isinstance(text, str) else None
    except (YamlError, StopIteration):
        return None
    applications = [*_dicts(value.get("applications"))] if isinstance(value, dict) else []
    if not applications:
        return None
    is_llm = any(str(application.get("import_path")).startswith(_LLM) for application in applications)
    models = dict.fromkeys(name for application in applications for name in _models(application))
    bounds = next((found for application in applications for found in _bounds(application)), (None, None))
    return RayServe(_VLLM if is_llm else _OWN_PROGRAM, tuple(models), *bounds)


def _models(application: dict[str, Any]) -> Iterator[str]:
    named = False
    for config in _dicts(_map(application.get("args")).get("llm_configs")):
        loading = _map(config.get("model_loading_config"))
        name = loading.get("model_id") or loading.get("model_source")
        if isinstance(name, str):
            named = True
            yield name
    variables = _map(_map(application.get("runtime_env")).get("env_vars"))
    for name in () if named else servers()[_OWN_PROGRAM].model.get("variables", ()):
        if isinstance(variables.get(name), str):
            yield variables[name]


def _bounds(application: dict[str, Any]) -> Iterator[tuple[int | None, int | None]]:
    deployments = [
        *_dicts(application.get("deployments")),
        *(
            _map(config.get("deployment_config"))
            for config in _dicts(_map(application.get("args")).get("llm_configs"))
        ),
    ]
    for deployment in deployments:
        scaling = _map(deployment.get("autoscaling_config"))
        low, high = scaling.get("min_replicas", 1), scaling.get("max_replicas")
        if isinstance(low, int) and isinstance(high, int):
            yield low, high


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))
