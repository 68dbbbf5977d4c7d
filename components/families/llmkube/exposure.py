"""The Service of an InferenceService, and where clients reach it (LLMKube spec 4.4)."""

from ...engines.command_line import CommandLine
from ...engines.settings import Setting
from ...fleet.endpoints import Backend, Endpoint, WeightsOwner
from ...fleet.objects import Object
from ...fleet.origins import Origin
from .facts import llmkube
from .pods import selector_of
from .serving import Serving
from .types.inference_service import EndpointSpec

_OPERATIONS = ("/chat/completions", "/completions", "/embeddings", "/responses")
"""Paths of OpenAI's API below its base: clients are given the base."""


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


def endpoint_of(serving: Serving, line: CommandLine, replicas: int) -> Endpoint:
    """Return where the service answers inside the cluster, whatever the type of its Service."""
    endpoint = serving.service.spec.endpoint or EndpointSpec()
    path = endpoint.path or EndpointSpec().path
    if not path.startswith("/") or any(letter.isspace() for letter in path):
        reason = f"must be a path that starts with '/' and contains no whitespace, found {path!r}"
        serving.findings.error("spec.endpoint.path", reason)
    service = service_name(serving.service.metadata.name)
    url = f"http://{service}.{serving.namespace}.svc.cluster.local:{endpoint.port}{_base(path)}"
    api = llmkube().runtimes[serving.runtime].api
    name, model = serving.service.metadata.name, serving.model.metadata.name
    return Endpoint(
        name=name,
        namespace=serving.namespace,
        model=_served_name(serving, line),
        url=url,
        api=api,
        port=endpoint.port,
        backends=(Backend(service, serving.namespace, endpoint.port, name, replicas),),
        weights=WeightsOwner("Model", serving.namespace, model),
        origin=Origin(serving.findings.source),
    )


def _base(path: str) -> str:
    operation = next((each for each in _OPERATIONS if path.rstrip("/").endswith(each)), "")
    return path.rstrip("/").removesuffix(operation)


def _served_name(serving: Serving, line: CommandLine) -> str:
    """Return the name that clients ask for.

    vLLM insists on its own: the one it is given, else its model as written. The others take any, so the Model's
    is as good as another.
    """
    given = line.value_of(Setting.SERVED_NAME)
    if given:
        return given.partition(",")[0] if serving.runtime == "llamacpp" else given
    if serving.runtime == "vllm":
        return serving.model_path or serving.model.spec.source
    return serving.model.metadata.name
