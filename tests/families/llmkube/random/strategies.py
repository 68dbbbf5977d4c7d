"""Random InferenceServices with their Models that are meant to render: every field fits the others.

Documents that are valid one by one, whatever they make together, are in :mod:`tests.families.llmkube.api.documents`.
"""

import functools
from dataclasses import dataclass, replace
from random import Random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from components.fleet.options import ModelCache, Options
from components.fleet.rendered import Fleet
from components.plan.rendering import render_fleet
from tests.families.llmkube.random import engines as llmkube_engines
from tests.families.llmkube.random import pods as llmkube_pods
from tests.families.llmkube.random.engines import DRAFT, Setting
from tests.families.llmkube.random.models import ADDRESSES, QUANTITIES, VENDORS, spec_of
from tests.families.llmkube.random.pods import Object, several, some
from tests.families.llmkube.support import isvc
from tests.families.llmkube.support import model as model_of
from tests.fleets import read
from tests.tries import tries

EXAMPLES = tries(2000)
RUNTIMES = tuple(llmkube_engines.FIELDS)
SOURCES = tuple(ADDRESSES)
NAMESPACES = ("ns-a", "ns-b", "x" * 63)
PRIORITY_CLASS = "team-priority"
"""A PriorityClass of somebody else."""
RUNTIME_CLASS = "nvidia"
MODEL = "m.1"
_LOADED = ("llamacpp", "vllm")
_LETTERS, _DIGITS = "abcxyz", "0189"


@dataclass(frozen=True, slots=True)
class Example:
    """Documents that belong together, and where the environment keeps models."""

    service: Object
    model: Object
    others: tuple[Object, ...]
    cache: ModelCache | None

    @property
    def documents(self) -> tuple[Object, ...]:
        return (self.service, self.model, *self.others)

    def rendered(self, order: Random | None = None) -> Fleet:
        """Render the documents as they are read anew, in their order or in another."""
        documents = list(self.documents)
        if order:
            order.shuffle(documents)
        return render_fleet(tuple(map(read, documents)), Options(cache=self.cache))


def examples() -> st.SearchStrategy[Example]:
    """Return random services of every runtime, each with its Model and a draft."""
    return st.integers(0, 2**48).map(lambda seed: example(Random(seed)))


@functools.cache
def drawn() -> tuple[Example, ...]:
    """Return the same 2,000 examples to everybody: what is asked of them is asked of all at once."""
    found: list[Example] = []

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
    @given(examples())
    def collect(one: Example) -> None:
        found.append(one)

    collect()
    return tuple(found)


def example(
    random: Random, runtime: str | None = None, gpus: int | None = None, source: str | None = None
) -> Example:
    """Draw one service and its Models; what is not given is drawn, too."""
    at = Setting(
        random,
        runtime or random.choice(RUNTIMES),
        random.choice((0, 0, 1, 2, 4, 8)) if gpus is None else gpus,
        random.choice(tuple(VENDORS)),
        source or random.choice(SOURCES),
    )
    if at.runtime == "tgi" and at.source == "http":
        # It loads no address, and has no init container.
        at = replace(at, source="repository")
    namespace = random.choice(NAMESPACES)
    in_model, in_service = random.choice(((True, False), (False, True), (True, True)))
    return Example(
        isvc(_name(random), namespace, MODEL, **_service(at, counted=in_service)),
        model_of(MODEL, random.choice(ADDRESSES[at.source]), namespace, **spec_of(at, counted=in_model)),
        (model_of(DRAFT, "org/small", namespace),),
        random.choice((None, None, ModelCache(claim="weights"), ModelCache(host_path="/var/models"))),
    )


def _name(random: Random) -> str:
    """A name that a Service can have once its dots are dashes (LLMKube spec 4.4), of any length."""
    parts = [
        "".join(random.choices(_LETTERS + _DIGITS, k=random.randint(1, 12))) for _ in range(random.randint(1, 6))
    ]
    name = random.choice(_LETTERS) + random.choice(".-").join(parts)
    return name[:63].rstrip(".-")


def _service(at: Setting, *, counted: bool) -> Object:
    random = at.random
    others = random.choice([other for other in RUNTIMES if other != at.runtime])
    return {
        # What another runtime reads is told and left out, and so must not be in the way.
        **(_foreign(at, others) if random.random() < 0.1 else {}),
        **({} if at.runtime == "llamacpp" and random.random() < 0.5 else {"runtime": at.runtime}),
        **_pod(at),
        **llmkube_engines.image(at),
        **_replicas(at),
        **_skip(at),
        **_resources(at, counted=counted),
        **llmkube_engines.FIELDS[at.runtime](at),
    }


def _foreign(at: Setting, runtime: str) -> Object:
    """Fields of another runtime. Extra arguments and commands are read by several, each in its own way."""
    drawn = llmkube_engines.FIELDS[runtime](at)
    return {name: value for name, value in drawn.items() if name not in ("extraArgs", "command", "args")}


def _pod(at: Setting) -> Object:
    random = at.random
    return some(
        random,
        containerPort=lambda: _port(random),
        endpoint=lambda: some(
            random,
            port=lambda: _port(random),
            path=lambda: random.choice(("/", "/v1/chat/completions", "/v1/embeddings", "/é")),
            type=lambda: random.choice(("ClusterIP", "NodePort", "LoadBalancer")),
        ),
        command=lambda: ["/entrypoint.sh"],
        env=lambda: llmkube_pods.env(random),
        tolerations=lambda: several(random, llmkube_pods.toleration),
        nodeSelector=lambda: random.choice(({}, {"pool": "a"}, {"node.kubernetes.io/instance-type": "g5.48xlarge"})),
        runtimeClassName=lambda: RUNTIME_CLASS,
        priority=lambda: random.choice(("critical", "high", "normal", "low", "batch")),
        priorityClassName=lambda: PRIORITY_CLASS,
        podAnnotations=lambda: llmkube_pods.annotations(random),
        podLabels=lambda: llmkube_pods.labels(random),
        podSecurityContext=lambda: llmkube_pods.pod_security(random),
        securityContext=lambda: llmkube_pods.security(random),
        probeOverrides=lambda: llmkube_pods.probe_overrides(random),
        imagePullSecrets=lambda: [{"name": "pull"}, {"name": "pull-2"}],
        evictionProtection=lambda: random.random() < 0.5,
    )


def _port(random: Random) -> int:
    return random.choice((1, 80, 8080, 65535, random.randint(1, 65535)))


def _replicas(at: Setting) -> Object:
    random = at.random
    if random.random() < 0.5:
        return some(random, replicas=lambda: random.randint(0, 10))
    low = random.randint(1, 10)
    scaling: Object = {"maxReplicas": random.randint(low, 100), **({"minReplicas": low} if low > 1 else {})}
    if at.runtime in ("generic", "personaplex") or random.random() < 0.6:
        # The first two export no metric that is known.
        scaling["metrics"] = several(random, _metric)
    return {"autoscaling": scaling, **(some(random, replicas=lambda: random.randint(1, 10)))}


def _metric(random: Random) -> Object:
    if random.random() < 0.5:
        share = {"type": "Resource", "targetAverageUtilization": random.choice((1, 70, 300))}
        return {"name": random.choice(("cpu", "memory")), **share}
    name = random.choice(("vllm:num_requests_running", "queue_size"))
    value = random.choice(("2", "500m", "1.5", "1Ki"))
    return {"type": "Pods", "name": name, "targetAverageValue": value}


def _skip(at: Setting) -> Object:
    """A repository is loaded by servers alone, an address by llama.cpp's server and the init container."""
    if at.source == "repository" and at.runtime in _LOADED:
        return {"skipModelInit": True}
    if at.source == "http" and at.runtime == "vllm":
        return {"skipModelInit": False}
    return some(at.random, skipModelInit=lambda: at.random.random() < 0.5)


def _resources(at: Setting, *, counted: bool) -> Object:
    random = at.random
    drawn = some(
        random,
        cpu=lambda: random.choice(QUANTITIES),
        memory=lambda: random.choice(QUANTITIES),
        hostMemory=lambda: random.choice(QUANTITIES),
        gpuMemory=lambda: random.choice(("16Gi", "1e9")),
    )
    if counted:
        drawn["gpu"] = at.gpus
    return {"resources": drawn} if drawn else {}
