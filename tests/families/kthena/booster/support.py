"""Short ways to write ModelBoosters, and to look at what they become."""

import copy
import json
from dataclasses import dataclass
from typing import Any

from components.contract.findings.collector import Findings, Unrenderable
from components.contract.load import LoadedResource
from components.contract.problems import Problem
from components.families import parse
from components.families.kthena.booster.context import ExpansionOptions, Purpose
from components.families.kthena.booster.expansion import Expansion, expand
from components.families.kthena.booster.literal.conversion import convert
from components.fleet.options import Options
from tests.fleets import fleet_of

Object = dict[str, Any]
WORKLOAD_API = "workload.serving.volcano.sh/v1alpha1"
GROUP = "workload.serving.volcano.sh"
SERVING = "modelserving.volcano.sh"
VLLM = "vllm/vllm-openai:v0.11.0"
CONTROLLERS = ExpansionOptions(Purpose.CONTROLLERS)
KEYS: list[Object] = [
    {"name": name, "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}} for name in ("ACCESS_KEY", "SECRET_KEY")
]
POLICY: Object = {"metrics": [{"metricName": "kthena:num_requests_waiting", "targetValue": 10}]}
QUICK_START: Object = {
    # Upstream's first sample, as far as it says something (Kthena spec 8).
    "modelURI": "hf://Qwen/Qwen2.5-0.5B-Instruct",
    "cacheURI": "hostpath:///tmp/cache",
    "env": [{"name": "HF_ENDPOINT", "value": "https://hf-mirror.com/"}],
    "workers": [
        {
            "type": "server",
            "image": "public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:latest",
            "replicas": 1,
            "pods": 1,
            "config": {"served-model-name": "Qwen2.5-0.5B-Instruct", "enable-prefix-caching": ""},
        }
    ],
}


def worker(kind: str = "server", **fields: Any) -> Object:
    """A worker; further fields by their wire names."""
    return {"type": kind, "image": VLLM, **fields}


def backend(name: str = "b", workers: list[Object] | None = None, **fields: Any) -> Object:
    """A backend of one replica; further fields by their wire names."""
    least = fields.get("minReplicas", 1)
    found = {"name": name, "type": "vLLM", "modelURI": "hf://org/name", "minReplicas": least, "maxReplicas": least}
    return {**found, "workers": [worker()] if workers is None else workers, **fields}


def pair(name: str = "b", prefill: Object | None = None, decode: Object | None = None, **fields: Any) -> Object:
    """A backend of prefill and decode."""
    workers = [worker("prefill", **(prefill or {})), worker("decode", **(decode or {}))]
    return backend(name, workers, type="vLLMDisaggregated", **fields)


def booster(title: str = "m", /, *backends: Object, **spec: Any) -> Object:
    """A ModelBooster; further fields of its spec by their wire names."""
    return copy.deepcopy(
        {
            "apiVersion": WORKLOAD_API,
            "kind": "ModelBooster",
            "metadata": {"name": title, "namespace": "ns"},
            "spec": {"backends": [*(backends or (backend(),))], **spec},
        }
    )


def load(document: Object) -> LoadedResource:
    """The document as it is read; it must be valid by itself."""
    manifests = parse(json.dumps(document, indent=1, ensure_ascii=False), "booster.yaml")
    assert not manifests.problems, list(map(str, manifests.problems))
    (source,) = manifests.resources
    return source


def expanded(document: Object, options: ExpansionOptions | None = None) -> dict[tuple[str, str], Object]:
    """What a booster without an error becomes, by kind and name."""
    source = load(document)
    findings = Findings(source)
    expansion = expand(source, findings, options or ExpansionOptions())
    assert not findings.has_errors, list(map(str, findings.problems))
    return {(child.kind.kind, child.name): child.resource.wire() for child in expansion}


def expansion_of(document: Object, options: ExpansionOptions | None = None) -> Expansion:
    """What a booster becomes."""
    source = load(document)
    return expand(source, Findings(source), options or ExpansionOptions())


def problems_of(document: Object, options: ExpansionOptions | None = None) -> list[Problem]:
    """What is wrong with a booster."""
    source = load(document)
    findings = Findings(source)
    try:
        expand(source, findings, options or ExpansionOptions())
    except Unrenderable:
        assert findings.has_errors
    return findings.problems


def reported(document: Object, **options: Any) -> list[Problem]:
    """What is wrong with a booster where it is rendered."""
    return list(fleet_of(document, **options).problems)


@dataclass(frozen=True)
class Conversion:
    """What Kthena's controllers generate from a booster, and why they give up; empty if they finish."""

    objects: tuple[Object, ...]
    failure: str


def literal(document: Object) -> Conversion:
    """Convert a booster as Kthena's controllers do."""
    return Conversion(*convert(load(document), Options()))


def role_of(serving: Object, place: int = 0) -> Object:
    """A role of a ModelServing."""
    role: Object = serving["spec"]["template"]["roles"][place]
    return role


def pod_of(serving: Object, place: int = 0, part: str = "entryTemplate") -> Object:
    """The pods of a role."""
    spec: Object = role_of(serving, place)[part]["spec"]
    return spec


def engine_of(serving: Object, place: int = 0) -> Object:
    """The container with the engine, behind all others."""
    container: Object = pod_of(serving, place)["containers"][-1]
    return container


def words_of(container: Object) -> list[str]:
    """Command and arguments."""
    return [*container.get("command", ()), *container.get("args", ())]


def value_behind(words: list[str], flag: str) -> str:
    """The word behind a flag."""
    return words[words.index(flag) + 1]
