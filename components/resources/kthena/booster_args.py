"""Parts of a ModelBooster as arguments: its backends and their workers."""

from typing import Any, Required, TypedDict

from .autoscaling_args import AutoscalingPolicySpecArgs


class LoraAdapterArgs(TypedDict, total=False):
    """An adapter beside the model."""

    name: Required[str]
    """Name that requests give as their model."""
    artifact_url: Required[str]
    """Where the adapter is: hf://REPOSITORY, s3://BUCKET/PATH or pvc://PATH."""


class ModelWorkerArgs(TypedDict, total=False):
    """The pods of one role."""

    type: str
    """server, prefill, decode, controller or coordinator. Default: server."""
    image: str
    """Image of the engine."""
    replicas: int
    """Instances of the role in each replica of the backend. Default: 1."""
    pods: int
    """Pods of each instance. Default: 1."""
    resources: dict[str, Any]
    """Resources of each pod (core/v1 ResourceRequirements, in wire form)."""
    affinity: dict[str, Any]
    """Affinity of the pods (core/v1 Affinity, in wire form); a required term on node.kubernetes.io/instance-type
    chooses the EC2 instance type."""
    config: Any
    """Engine arguments, as a map; --max-model-len is max-model-len."""


class ModelBackendArgs(TypedDict, total=False):
    """One way to run the model: an engine, its workers and its replicas."""

    name: Required[str]
    """Name of the backend; renaming it replaces its pods."""
    type: Required[str]
    """vLLM, vLLMDisaggregated, SGLang, MindIE or MindIEDisaggregated."""
    model_uri: Required[str]
    """Where the weights are: hf://REPOSITORY, s3://BUCKET/PATH or pvc://PATH."""
    cache_uri: str
    """Where they are kept: hostpath://FOLDER or pvc://CLAIM. Default: a volume of each pod."""
    env_from: list[dict[str, Any]]
    """Sources of environment variables (core/v1 EnvFromSource, in wire form)."""
    env: list[dict[str, Any]]
    """Environment variables."""
    min_replicas: Required[int]
    """Replicas at rest, and the lower bound of the autoscaler."""
    max_replicas: Required[int]
    """Upper bound of the autoscaler; without a policy the same as min_replicas."""
    scaling_cost: int
    """What a replica costs, in any unit; only with a policy of the model."""
    route_weight: int
    """Its share of the requests relative to the other backends, 0 to 100. Default: 100."""
    scale_to_zero_grace_period: str
    """How long a backend without requests keeps its last replica, up to 30m; only with a policy of the model."""
    workers: Required[list[ModelWorkerArgs]]
    """The roles: one server, or prefill and decode."""
    lora_adapters: list[LoraAdapterArgs]
    """Adapters beside the model."""
    autoscaling_policy: AutoscalingPolicySpecArgs
    """What this backend scales on."""
