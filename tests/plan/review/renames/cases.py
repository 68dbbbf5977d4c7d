"""Renames in each family: what is edited, and what a report must say about it.

The expected values come from how Kubernetes, Pulumi and the cluster-autoscaler work, not from the code under test:

- A rename deletes one object and creates another one. Pulumi deletes after everything is created or updated, so that
  both exist meanwhile and the old one keeps its accelerators until then.
- What has the same name in both revisions is the same object and is updated in place, whatever it was before.
- A node group has at most ``maxNodes`` nodes, by default as many as its models need with all replicas that they may
  have. A replica for which it has no accelerators left stays Pending, if no other node group takes it.
- A finding that differs by renamed names alone is the same finding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MODELS = Path(__file__).parents[4] / "stacks"
SMALL = "g5.2xlarge"
"""One A10G."""
LARGE = "p5.48xlarge"
"""Eight H100."""


@dataclass(frozen=True)
class Case:
    """One edit.

    Attributes:
        moved: Titles of models before and after, where these differ.
        gone: Models that are removed.
        come: Models that are new.
        new: Findings that are new, each as ``rule Kind/name``.
        fixed: Findings that are fixed.
        pending: At most how many replicas stay Pending, by workload, where errors do not forbid the revisions.
        most: The most nodes of an instance type.
        namespaces: The environment's namespace of models before and after.
        zones: Where GPU nodes are; empty for all zones.
        moves_file: Whether the manifests are in another file afterwards.
        refused: Whether errors forbid both revisions, so that replicas are not compared.
    """

    name: str
    before: str
    after: str
    moved: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    pending: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    namespaces: tuple[str, str] = ("models", "models")
    zones: tuple[str, ...] = ()
    moves_file: bool = False
    refused: bool = False


def sample(name: str, *edits: tuple[str, str]) -> str:
    """Return a shipped sample with other text in it."""
    text = (MODELS / f"{name}.yaml").read_text(encoding="utf-8")
    return edited(text, *edits)


def edited(text: str, *edits: tuple[str, str]) -> str:
    """Return a text with other words in it, each of which must occur."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def together(*texts: str) -> str:
    """Return several manifests as one text."""
    return "\n---\n".join(texts)


def namespaced(text: str, namespace: str, *names: str) -> str:
    """Return manifests of which some objects are in a namespace."""
    return edited(text, *((f"  name: {name}\n", f"  name: {name}\n  namespace: {namespace}\n") for name in names))


CHAT = sample("models/qwen-chat")
# The sample is tight on its L4 with the model's own context; with a shorter one it has no findings.
OSS = sample("models/qwen-oss").rstrip() + "\n  backendRuntimeConfig:\n    args: [--max-model-len=8192]\n"
FLAG = ('- "16384"\n', '- "16384"\n      - --seed=1\n      - --seed=1\n')
"""An argument that stands there twice."""
WRONG = edited(CHAT, FLAG)
TALK = ("name: qwen-chat", "name: qwen-talk")
MOVED = (("Playground/qwen-chat", "Playground/qwen-talk"),)
ONE = {"Deployment models/qwen-talk": 1}
FOUR_NAMES = sample("models/kthena-two-backends")
ROUTED = sample("models/kthena-routed")
BIG = sample("models/llama-405b-multinode")


def twin(name: str) -> str:
    """Return another Playground of the same model as ``CHAT``."""
    return f"""\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: {name}
spec:
  replicas: 1
  modelClaim: {{modelName: qwen2-7b}}
  backendRuntimeConfig: {{args: [--max-model-len, "16384"]}}
"""


def groups(name: str) -> str:
    """Return a LeaderWorkerSet of two groups, each of two nodes with eight GPUs."""
    return f"""\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: {name}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        nodeSelector: {{node.kubernetes.io/instance-type: {LARGE}}}
        containers:
          - name: engine
            image: example.com/engine:v1
            resources:
              requests: {{cpu: "8", memory: 64Gi}}
              limits: {{nvidia.com/gpu: "8", memory: 64Gi}}
"""


OWN_RUNTIME = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata:
  name: own-engine
spec:
  image: vllm/vllm-openai
  version: v0.20.0
  command: [vllm, serve]
  recommendedConfigs:
    - name: default
      resources: {requests: {cpu: "4", memory: 16Gi}, limits: {cpu: "4", memory: 16Gi}}
      args: [--model, "{{ .ModelPath }}", --host, 0.0.0.0, --port, "8080", --max-model-len, "16384"]
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: qwen2-7b
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2-7B-Instruct}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g5.2xlarge}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: served
spec:
  modelClaim: {modelName: qwen2-7b}
  backendRuntimeConfig: {backendName: own-engine}
""".replace("{{ .ModelPath }}", "{{ .ModelPath }}")
OTHER_FAMILY = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata:
  name: qwen2-7b
spec:
  source: Qwen/Qwen2-7B-Instruct
  format: safetensors
  hardware: {accelerator: cuda, gpu: {enabled: true, count: 1, vendor: nvidia}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata:
  name: qwen-talk
spec:
  modelRef: qwen2-7b
  runtime: vllm
  skipModelInit: true
  vllmConfig: {maxModelLen: 16384}
  resources: {cpu: "4", memory: 16Gi}
  nodeSelector: {node.kubernetes.io/instance-type: g5.2xlarge}
"""
SERVICES = together(sample("models/llmkube-autoscaled"), sample("models/llmkube-vllm-qwen32b"))

LLMAZ = (
    Case("a Playground", CHAT, edited(CHAT, TALK), MOVED, pending=ONE),
    Case("an OpenModel", CHAT, edited(CHAT, ("qwen2-7b", "qwen-two"))),
    Case("an OpenModel and its Playground", CHAT, edited(CHAT, TALK, ("qwen2-7b", "qwen-two")), MOVED, pending=ONE),
    Case(
        "a flavor",
        sample("models/deepseek-two-flavors"),
        sample("models/deepseek-two-flavors", ("name: l40s", "name: big"), ("[l40s, a10g]", "[big, a10g]")),
    ),
    Case("a BackendRuntime", OWN_RUNTIME, edited(OWN_RUNTIME, ("own-engine", "our-engine"))),
    Case(
        "a Service of several nodes",
        BIG,
        edited(BIG, ("name: llama-405b", "name: llama-large")),
        (("Service/llama-405b", "Service/llama-large"),),
        pending={"LeaderWorkerSet models/llama-large": 1},
    ),
    Case(
        "the namespace of a Playground",
        CHAT,
        namespaced(CHAT, "team-b", "qwen-chat"),
        (("Playground/qwen-chat", "Playground/qwen-chat"),),
        pending={"Deployment team-b/qwen-chat": 1},
    ),
    Case(
        "a Playground and its namespace",
        CHAT,
        namespaced(edited(CHAT, TALK), "team-b", "qwen-talk"),
        MOVED,
        pending={"Deployment team-b/qwen-talk": 1},
    ),
    Case(
        "the namespace of the environment",
        together(CHAT, OSS),
        together(CHAT, OSS),
        (("Playground/qwen-chat", "Playground/qwen-chat"), ("Playground/qwen-oss", "Playground/qwen-oss")),
        pending={"Deployment serving/qwen-chat": 1, "Deployment serving/qwen-oss": 1},
        namespaces=("models", "serving"),
    ),
    Case(
        "two Playgrounds that swap their names are two objects with other contents",
        together(WRONG, OSS),
        together(
            edited(WRONG, ("name: qwen-chat", "name: qwen-oss")), edited(OSS, ("name: qwen-oss", "name: qwen-chat"))
        ),
        new=("flags-repeated Playground/qwen-oss",),
        fixed=("flags-repeated Playground/qwen-chat",),
    ),
    Case(
        "a name that moves on to another Playground",
        together(CHAT, OSS),
        together(
            edited(CHAT, ("name: qwen-chat", "name: qwen-oss")), edited(OSS, ("name: qwen-oss", "name: qwen-old"))
        ),
        gone=("Playground/qwen-chat",),
        come=("Playground/qwen-old",),
    ),
    Case(
        "a Playground that also gets a replica: there are two nodes then, and one is taken",
        CHAT,
        edited(CHAT, TALK, ("replicas: 1", "replicas: 2")),
        MOVED,
        pending=ONE,
    ),
    Case(
        "a Playground that also gets a wrong argument",
        CHAT,
        edited(WRONG, TALK),
        MOVED,
        new=("flags-repeated Playground/qwen-talk",),
        pending=ONE,
    ),
    Case(
        "a Playground that also loses a wrong argument",
        WRONG,
        edited(CHAT, TALK),
        MOVED,
        fixed=("flags-repeated Playground/qwen-chat",),
        pending=ONE,
    ),
    Case("a Playground with a wrong argument", WRONG, edited(WRONG, TALK), MOVED, pending=ONE),
    Case(
        "a Playground with a wrong argument, and its file",
        WRONG,
        edited(WRONG, TALK),
        MOVED,
        pending=ONE,
        moves_file=True,
    ),
    Case(
        "a Playground with a wrong argument, and another wrong argument",
        WRONG,
        edited(WRONG, TALK, ("--seed=1", "--swap-space=1")),
        MOVED,
        new=("flags-repeated Playground/qwen-talk",),
        fixed=("flags-repeated Playground/qwen-chat",),
        pending=ONE,
    ),
    Case(
        "not a rename: another model with the same wrong argument",
        WRONG,
        edited(OSS, ("[--max-model-len=8192]", "[--max-model-len=8192, --seed=1, --seed=1]")),
        gone=("Playground/qwen-chat",),
        come=("Playground/qwen-oss",),
        new=("flags-repeated Playground/qwen-oss",),
        fixed=("flags-repeated Playground/qwen-chat",),
    ),
    Case(
        "both of two equal Playgrounds",
        together(CHAT, twin("twin-a"), twin("twin-b")),
        together(CHAT, twin("twin-c"), twin("twin-d")),
        (("Playground/twin-a", "Playground/twin-c"), ("Playground/twin-b", "Playground/twin-d")),
        pending={"Deployment models/twin-c": 1, "Deployment models/twin-d": 1},
    ),
    Case(
        "one of two equal Playgrounds",
        together(CHAT, twin("twin-a"), twin("twin-b")),
        together(CHAT, twin("twin-a"), twin("twin-c")),
        (("Playground/twin-b", "Playground/twin-c"),),
        pending={"Deployment models/twin-c": 1},
    ),
    Case(
        "a Playground while others come and go",
        together(CHAT, OSS),
        together(edited(CHAT, TALK), sample("models/tiny-ollama")),
        MOVED,
        gone=("Playground/qwen-oss",),
        come=("Playground/tiny-ollama",),
        pending=ONE,
    ),
    Case(
        "a Playground whose node group is full",
        CHAT,
        edited(CHAT, TALK),
        MOVED,
        pending=ONE,
        most={SMALL: 1},
    ),
    Case("a Playground whose node group has room for both", CHAT, edited(CHAT, TALK), MOVED, most={SMALL: 2}),
    Case(
        "two Playgrounds of one node group, each of which would have found room alone",
        together(CHAT, twin("twin-a")),
        together(edited(CHAT, TALK), twin("twin-b")),
        (*MOVED, ("Playground/twin-a", "Playground/twin-b")),
        pending={"Deployment models/qwen-talk": 1, "Deployment models/twin-b": 1},
        most={SMALL: 3},
    ),
    Case(
        "not a rename: another model for one that goes, in a full node group",
        CHAT,
        edited(OSS, ("g6.2xlarge", SMALL)),
        gone=("Playground/qwen-chat",),
        come=("Playground/qwen-oss",),
        pending={"Deployment models/qwen-oss": 1},
        most={SMALL: 1},
    ),
    Case(
        "a Service of several nodes whose node group is full",
        BIG,
        edited(BIG, ("name: llama-405b", "name: llama-large")),
        (("Service/llama-405b", "Service/llama-large"),),
        pending={"LeaderWorkerSet models/llama-large": 1},
        most={LARGE: 3},
    ),
)
LLMKUBE = (
    Case(
        "an InferenceService",
        sample("models/llmkube-autoscaled"),
        sample("models/llmkube-autoscaled", ("name: phi4-autoscaled", "name: phi4-scaled")),
        (("InferenceService/phi4-autoscaled", "InferenceService/phi4-scaled"),),
    ),
    Case(
        "a Model",
        sample("models/llmkube-autoscaled"),
        sample("models/llmkube-autoscaled", ("phi4-mini", "phi-small")),
    ),
    Case(
        "a Model and its InferenceService of the same name",
        sample("models/llmkube-vllm-qwen32b"),
        sample("models/llmkube-vllm-qwen32b", ("qwen3-32b", "qwen3-large")),
        (("InferenceService/qwen3-32b", "InferenceService/qwen3-large"),),
        pending={"Deployment models/qwen3-large": 1},
    ),
    Case(
        "the namespace of two InferenceServices and their Models",
        SERVICES,
        namespaced(SERVICES, "team-b", "phi4-mini", "phi4-autoscaled", "qwen3-32b"),
        (
            ("InferenceService/phi4-autoscaled", "InferenceService/phi4-autoscaled"),
            ("InferenceService/qwen3-32b", "InferenceService/qwen3-32b"),
        ),
        pending={"Deployment team-b/qwen3-32b": 1},
    ),
    Case(
        "an InferenceService with autoscaling in a node group that is full at rest",
        sample("models/llmkube-autoscaled", ("maxReplicas: 4", "maxReplicas: 2")),
        sample(
            "models/llmkube-autoscaled",
            ("maxReplicas: 4", "maxReplicas: 2"),
            ("name: phi4-autoscaled", "name: phi4-scaled"),
        ),
        (("InferenceService/phi4-autoscaled", "InferenceService/phi4-scaled"),),
        pending={"Deployment models/phi4-scaled": 1},
        most={"g6.2xlarge": 1},
    ),
    Case(
        "an InferenceService and other GPUs at the same time: another node group, which has room",
        sample("models/llmkube-autoscaled"),
        sample(
            "models/llmkube-autoscaled", ("name: phi4-autoscaled", "name: phi4-scaled"), ("g6.2xlarge", "g6e.2xlarge")
        ),
        (("InferenceService/phi4-autoscaled", "InferenceService/phi4-scaled"),),
    ),
)
KTHENA = (
    Case(
        "a ModelBooster whose findings name it",
        FOUR_NAMES,
        edited(FOUR_NAMES, ("name: qwen2-5-7b", "name: qwen-pair")),
        (("ModelBooster/qwen2-5-7b", "ModelBooster/qwen-pair"),),
    ),
    Case("a backend that findings name", FOUR_NAMES, edited(FOUR_NAMES, ("name: l40s", "name: large"))),
    Case(
        "a ModelBooster and a backend that findings name",
        FOUR_NAMES,
        edited(FOUR_NAMES, ("name: qwen2-5-7b", "name: qwen-pair"), ("name: l40s", "name: large")),
        (("ModelBooster/qwen2-5-7b", "ModelBooster/qwen-pair"),),
    ),
    Case(
        "a ModelBooster that also loses the policy that a finding is about",
        FOUR_NAMES,
        edited(
            FOUR_NAMES,
            ("name: qwen2-5-7b", "name: qwen-pair"),
            ("  costExpansionRatePercent: 200\n", ""),
            (FOUR_NAMES[FOUR_NAMES.index("  autoscalingPolicy:") : FOUR_NAMES.index("  backends:")], ""),
            ("      scalingCost: 225\n", ""),
            ("      scalingCost: 122\n", ""),
            ("      minReplicas: 1\n      maxReplicas: 2\n", "      minReplicas: 1\n      maxReplicas: 1\n"),
            ("      minReplicas: 1\n      maxReplicas: 4\n", "      minReplicas: 1\n      maxReplicas: 1\n"),
        ),
        (("ModelBooster/qwen2-5-7b", "ModelBooster/qwen-pair"),),
        # Without an autoscaler, no start is too long for its window.
        fixed=("native-differs ModelBooster/qwen2-5-7b", "start-window ModelBooster/qwen2-5-7b"),
        pending={"LeaderWorkerSet models/qwen-pair-l40s": 1, "LeaderWorkerSet models/qwen-pair-a10g": 1},
    ),
    Case(
        "a ModelServing and everything that refers to it",
        ROUTED,
        edited(ROUTED, ("mistral-nemo", "nemo")),
        (("ModelServing/mistral-nemo", "ModelServing/nemo"),),
    ),
    Case(
        "a ModelServer",
        ROUTED,
        edited(
            ROUTED,
            ("kind: ModelServer\nmetadata:\n  name: mistral-nemo", "kind: ModelServer\nmetadata:\n  name: nemo-pods"),
            ("modelServerName: mistral-nemo", "modelServerName: nemo-pods"),
        ),
    ),
    Case(
        "a ModelRoute",
        ROUTED,
        edited(ROUTED, ("  name: mistral\n", "  name: nemo-route\n")),
        (("ModelRoute/mistral", "ModelRoute/nemo-route"),),
    ),
    Case(
        "an AutoscalingPolicy",
        ROUTED,
        edited(ROUTED, ("  name: requests\n", "  name: by-load\n"), ("{name: requests}", "{name: by-load}")),
    ),
    Case(
        "an AutoscalingPolicyBinding",
        ROUTED,
        edited(
            ROUTED,
            (
                "kind: AutoscalingPolicyBinding\nmetadata:\n  name: mistral-nemo",
                "kind: AutoscalingPolicyBinding\nmetadata:\n  name: scaler",
            ),
        ),
    ),
    Case("a role", ROUTED, edited(ROUTED, ("name: leader", "name: entry"))),
    Case(
        "a ModelBooster of several nodes",
        sample("models/kthena-vllm-multinode"),
        sample("models/kthena-vllm-multinode", ("name: qwen2-5-72b", "name: qwen-large")),
        (("ModelBooster/qwen2-5-72b", "ModelBooster/qwen-large"),),
        pending={"LeaderWorkerSet models/qwen-large-two-nodes": 1},
    ),
    Case(
        "a ModelBooster with prefill and decode",
        sample("models/kthena-prefill-decode"),
        sample("models/kthena-prefill-decode", ("name: llama-pd\nspec", "name: llama-split\nspec")),
        (("ModelBooster/llama-pd", "ModelBooster/llama-split"),),
        pending={
            "LeaderWorkerSet models/llama-split-a100-0-prefill-0": 1,
            "LeaderWorkerSet models/llama-split-a100-0-decode-0": 1,
        },
        zones=("us-east-1a",),
    ),
)
LLMD = (
    Case(
        "a VariantAutoscaling with its Playground, which errors name",
        sample("variants/llama-8b"),
        sample("variants/llama-8b", ("name: llama-8b", "name: llama-eight")),
        (("Playground/llama-8b", "Playground/llama-eight"),),
        refused=True,
    ),
    Case(
        "a VariantAutoscaling with its InferenceService, which errors name",
        sample("variants/mistral-7b"),
        sample("variants/mistral-7b", ("name: mistral-7b\n", "name: mistral-small\n")),
        (("InferenceService/mistral-7b", "InferenceService/mistral-small"),),
        refused=True,
    ),
    Case(
        "the model of a VariantAutoscaling, which errors name",
        sample("variants/llama-8b"),
        sample("variants/llama-8b", ("llama3-1-8b-instruct", "llama-instruct")),
        refused=True,
    ),
)
OTHERS = (
    Case(
        "a LeaderWorkerSet",
        groups("engine"),
        groups("engine-two"),
        (("LeaderWorkerSet/engine", "LeaderWorkerSet/engine-two"),),
        pending={"LeaderWorkerSet models/engine-two": 2},
    ),
    Case(
        "a LeaderWorkerSet whose node group has room for one more group",
        groups("engine"),
        groups("engine-two"),
        (("LeaderWorkerSet/engine", "LeaderWorkerSet/engine-two"),),
        pending={"LeaderWorkerSet models/engine-two": 1},
        most={LARGE: 6},
    ),
    Case(
        "a model that moves to another family and gets another name",
        CHAT,
        OTHER_FAMILY,
        (("Playground/qwen-chat", "InferenceService/qwen-talk"),),
        pending=ONE,
    ),
    Case("nothing", CHAT, CHAT),
)
CASES = (*LLMAZ, *LLMKUBE, *KTHENA, *LLMD, *OTHERS)
