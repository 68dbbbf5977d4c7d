"""The Service of an InferenceService and its endpoint (LLMKube spec 4.4)."""

from dataclasses import replace

from ...contract.findings.ids import RuleId
from ...engines.command_line import CommandLine
from ...engines.paths import path_prefix
from ...engines.registry import engines
from ...engines.settings import Setting
from ...fleet.endpoints import Backend, Endpoint, WeightsOwner
from ...fleet.objects import Object
from ...fleet.origins import Origin
from .facts import llmkube
from .pods import selector_of
from .serving import ServiceContext
from .types.inference_service import EndpointSpec
from .weights import repository_of

_OPERATIONS = ("/chat/completions", "/completions", "/embeddings", "/responses")
"""Operations of the OpenAI API; clients append them to its base URL."""
_VERSION = "/v1"
"""Last segment of the base path, and the whole of it by default."""
_OPENAI = "openai"


def service_name(name: str) -> str:
    """Return the name of the Service: dots become dashes."""
    return name.replace(".", "-")


def service_of(serving: ServiceContext) -> Object:
    """Return the Service; it targets the container's port, which may differ from its own."""
    name = serving.service.metadata.name
    endpoint = serving.service.spec.endpoint or EndpointSpec()
    port: Object = {"name": "http", "port": endpoint.port, "protocol": "TCP", "targetPort": serving.port}
    if endpoint.type == "NodePort" and endpoint.node_port is not None:
        port["nodePort"] = endpoint.node_port
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


def endpoint_of(serving: ServiceContext, line: CommandLine, replicas: int) -> Endpoint:
    """Return the endpoint inside the cluster, for every type of Service."""
    endpoint = serving.service.spec.endpoint or EndpointSpec()
    path = endpoint.path or EndpointSpec().path
    if not path.startswith("/") or any(letter.isspace() for letter in path):
        reason = f"must be a path that starts with '/' and contains no whitespace, found {path!r}"
        serving.findings.error("spec.endpoint.path", reason)
    service = service_name(serving.service.metadata.name)
    api = llmkube().runtimes[serving.runtime].api
    base = _api_base(serving, line, path) if api == _OPENAI else _base(path)
    url = f"http://{service}.{serving.namespace}.svc.cluster.local:{endpoint.port}{base}"
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


def _api_base(serving: ServiceContext, line: CommandLine, path: str) -> str:
    """Return the base path of the OpenAI API, to which clients and the gateway append its operations.

    ``path`` configures nothing: the operator only displays it (LLMKube spec 4.4). Known engines serve the API under
    ``/v1``. For other images the base follows from ``path`` if that is an operation of the API. Paths such as
    ``/embed`` of Text Embeddings Inference are the server's own, besides its ``/v1/embeddings``.
    """
    own = _base(path)
    base = own if own.endswith(_VERSION) or own != path.rstrip("/") else _VERSION
    if serving.program in engines():
        base = path_prefix(line) + _VERSION
    if path != EndpointSpec().path and own != base:
        reason = (
            f"{path!r} is not where the OpenAI API is served: clients and the gateway use {base!r}; set it to an "
            f"operation of that API, such as {base}{_OPERATIONS[0]} or {base}{_OPERATIONS[2]}"
        )
        serving.findings.warn("spec.endpoint.path", reason, RuleId.ACCESS_PATH)
    return base


def left_to_operator(endpoint: Endpoint, serving: ServiceContext) -> Endpoint:
    """Mark the endpoint of a Service whose load balancer the operator creates, so that it cannot be configured."""
    spec = serving.service.spec.endpoint
    if spec is None or spec.type != "LoadBalancer":
        return endpoint
    return replace(endpoint, operators_balancer=Origin(serving.findings.source, "spec.endpoint.type"))


def _base(path: str) -> str:
    path = path.rstrip("/")
    operation = next((operation for operation in _OPERATIONS if path.endswith(operation)), "")
    return path.removesuffix(operation)


def _served_name(serving: ServiceContext, line: CommandLine) -> str:
    """Return the model name that clients use.

    vLLM requires its served name, which defaults to its model argument. Other servers accept any name, so it is the
    Model's.
    """
    name = line.value_of(Setting.SERVED_NAME)
    if name:
        # llama.cpp takes a list of aliases.
        return name.partition(",")[0] if serving.program == "llamacpp" else name
    if serving.runtime == "vllm":
        return serving.model_path or repository_of(serving.model.spec.source)
    return serving.model.metadata.name
