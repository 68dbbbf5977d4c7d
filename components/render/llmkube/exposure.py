"""The Service of an InferenceService, and where clients reach it (LLMKube spec 4.4)."""

from collections.abc import Iterable

from ...api.llmkube import EndpointSpec
from ...catalog.llmkube import llmkube
from ..metric_pods import value_of
from ..types import Endpoint, Object
from .pods import selector_of
from .serving import Serving

_OPERATIONS = ("/chat/completions", "/completions", "/embeddings", "/responses")
"""Paths of OpenAI's API below its base: clients are given the base."""
_SERVED_NAME = {"vllm": ("--served-model-name",), "llamacpp": ("--alias", "-a"), "generic": ("--served-model-name",)}


def service_name(name: str) -> str:
    """Return the name of the Service: dots become dashes."""
    return name.replace(".", "-")


def service_of(serving: Serving) -> Object:
    """Return the Service; it leads to the port that the container listens on, whatever its own is."""
    name = serving.service.metadata.name
    endpoint = serving.service.spec.endpoint or EndpointSpec()
    port = {"name": "http", "port": endpoint.port, "protocol": "TCP", "targetPort": serving.port}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": service_name(name),
            "namespace": serving.namespace,
            "labels": selector_of(name),
        },
        "spec": {"type": endpoint.type, "ports": [port], "selector": selector_of(name)},
    }


def endpoint_of(serving: Serving, args: Iterable[str]) -> Endpoint:
    """Return where the service answers inside the cluster, whatever the type of its Service."""
    said = serving.service.spec.endpoint or EndpointSpec()
    path = said.path or EndpointSpec().path
    if not path.startswith("/") or any(letter.isspace() for letter in path):
        reason = f"must be a path that begins with '/', without blanks, found {path!r}"
        serving.findings.error("spec.endpoint.path", reason)
    service = service_name(serving.service.metadata.name)
    url = f"http://{service}.{serving.namespace}.svc.cluster.local:{said.port}{_base(path)}"
    api = llmkube().runtimes[serving.runtime].api
    return Endpoint(_served_name(serving, args), url, api, said.port, serving.namespace, service)


def _base(path: str) -> str:
    operation = next((each for each in _OPERATIONS if path.rstrip("/").endswith(each)), "")
    return path.rstrip("/").removesuffix(operation)


def _served_name(serving: Serving, args: Iterable[str]) -> str:
    """Return the name that clients ask for.

    vLLM insists on its own: the one it is given, else its model as written. The others take any, so the Model's
    is as good as another.
    """
    line = " ".join(args)
    given = value_of(line, _SERVED_NAME.get(serving.runtime, ()))
    if given:
        return given.partition(",")[0] if serving.runtime == "llamacpp" else given
    if serving.runtime == "vllm":
        return serving.model_path or serving.model.spec.source
    return serving.model.metadata.name
