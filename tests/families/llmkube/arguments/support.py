"""Servers as they are started: an InferenceService, what its container runs and what is said of it.

Expected values of the tests are those of LLMKube spec 2, 4.3, 8, 10 and 11; where upstream does otherwise the
deviation stands beside them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.contract.findings.collector import Findings
from components.contract.load import LoadedResource
from components.contract.problems import Problem
from components.families.llmkube.arguments.start import StartCommand, start_command
from components.families.llmkube.family import INFERENCE_SERVICE
from components.families.llmkube.serving import ServiceContext
from components.families.llmkube.types.inference_service import InferenceService, Model
from tests.families.llmkube.api.samples import Document, made

IMAGES = {
    "llamacpp": "ghcr.io/ggml-org/llama.cpp:server",
    "vllm": "vllm/vllm-openai:v0.20.0",
    "tgi": "ghcr.io/huggingface/text-generation-inference:latest",
    "sglang": "lmsysorg/sglang:v0.5.15.post1-cu129",
    "llamacpp-router": "ghcr.io/ggml-org/llama.cpp:server",
    "personaplex": "registry.example.com/personaplex:1",
    "generic": "registry.example.com/server:1",
}
PORTS = {
    "llamacpp": 8080,
    "llamacpp-router": 8080,
    "vllm": 8000,
    "tgi": 80,
    "sglang": 30000,
    "personaplex": 8998,
    "generic": 8080,
}
LLAMA = "ghcr.io/ggml-org/llama.cpp:server-"
VLLM = "vllm/vllm-openai:"
TGI = "ghcr.io/huggingface/text-generation-inference:"
FILE = "/models/608d0e1313135e5b/m1.gguf"
HEAD = ["--model", FILE, "--host", "0.0.0.0", "--port", "8080"]


@dataclass
class Started:
    """What came out, and what was found."""

    result: StartCommand
    problems: list[Problem] = field(default_factory=list)

    @property
    def command(self) -> list[str] | None:
        return list(self.result.line.command) or None

    @property
    def args(self) -> list[str]:
        return list(self.result.line.args)

    def of(self, severity: str) -> dict[str, str]:
        found = [p for p in self.problems if p.severity == severity]
        assert len({p.path for p in found}) == len(found), found
        return {p.path: p.reason for p in found}

    @property
    def errors(self) -> dict[str, str]:
        return self.of("error")

    @property
    def warnings(self) -> dict[str, str]:
        return self.of("warning")

    @property
    def own(self) -> list[str]:
        """The arguments of llama.cpp without those that every service has."""
        assert self.args[:6] == HEAD
        assert self.args[-1] == "--metrics"
        return self.args[6:-1]


def start(
    runtime: str,
    spec: Document | None = None,
    *,
    gpus: int = 0,
    gpu: Document | None = None,
    source: str = "org/repo",
    path: str = "",
    image: str | None = None,
    drafts: Mapping[str, str] | None = None,
) -> Started:
    """Start a runtime; ``gpu`` is ``hardware.gpu`` of the Model, ``drafts`` are sources of further Models."""
    written: Document = {"source": source, **({"hardware": {"gpu": gpu}} if gpu is not None else {})}
    specs: dict[str, Document] = {
        "m1": written,
        **{name: {"source": where} for name, where in (drafts or {}).items()},
    }
    models = {name: Model.model_validate(made("Model", name, each)) for name, each in specs.items()}
    document = made("InferenceService", "svc.a", {"modelRef": "m1", "runtime": runtime, **(spec or {})})
    service = InferenceService.model_validate(document)
    return serve(service, models, gpus=gpus, path=path, image=image)


def serve(
    service: InferenceService, models: Mapping[str, Model], *, gpus: int, path: str = "", image: str | None = None
) -> Started:
    """Start a service with the Model ``m1`` of its namespace."""
    findings = Findings(LoadedResource.from_program(service, INFERENCE_SERVICE))
    runtime, endpoint = service.spec.runtime, service.spec.endpoint
    serving = ServiceContext(
        service=service,
        model=models["m1"],
        models=models,
        namespace="ns",
        runtime=runtime,
        image=image or IMAGES[runtime],
        port=service.spec.container_port or (endpoint.port if endpoint else PORTS[runtime]),
        gpus=gpus,
        model_path=path,
        findings=findings,
    )
    return Started(start_command(serving), findings.problems)


def llama(spec: Document | None = None, *, gpus: int = 0, **more: Any) -> Started:
    return start("llamacpp", spec, gpus=gpus, source="https://example.com/m.gguf", path=FILE, **more)


def vllm(config: Document | None = None, *, gpus: int = 1, spec: Document | None = None, **more: Any) -> Started:
    both = {**({"vllmConfig": config} if config is not None else {}), **(spec or {})}
    return start("vllm", both, gpus=gpus, **more)


def vllm_own(started: Started) -> list[str]:
    assert started.args[:5] == ["org/repo", "--host", "0.0.0.0", "--port", "8000"]
    return started.args[5:]


def tgi(config: Document | None = None, *, gpus: int = 1, spec: Document | None = None, **more: Any) -> Started:
    both = {**({"tgiConfig": config} if config is not None else {}), **(spec or {})}
    return start("tgi", both, gpus=gpus, **more)


def tgi_own(started: Started) -> list[str]:
    assert started.args[:6] == ["--model-id", "org/repo", "--hostname", "0.0.0.0", "--port", "80"]
    return started.args[6:]
