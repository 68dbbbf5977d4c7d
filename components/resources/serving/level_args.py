"""Arguments about service levels: what models promise, what is asked of them, what accelerators cost."""

from typing import Required, TypedDict


class PromiseArgs(TypedDict, total=False):
    """What is promised for a model."""

    itl_ms: int
    """Mean time from one token of an answer to the next, in milliseconds. Default: 0, no promise."""
    ttft_ms: int
    """Time that 95 % of the requests wait at most before work on them begins, in milliseconds; the time to the first
    token is longer by the work on the prompt. Default: 0, no promise."""


class ServiceClassArgs(TypedDict, total=False):
    """Models with one priority."""

    name: Required[str]
    """Name of the class; no other one has it, in upper or lower case."""
    priority: int
    """Priority: 1, the highest, to 100. Default: 100."""
    models: Required[dict[str, PromiseArgs]]
    """What is promised, by the name under which clients ask for a model."""


class LoadArgs(TypedDict, total=False):
    """What is asked of a variant."""

    requests_per_minute: Required[float]
    """Requests a minute at the peak."""
    output_tokens: Required[float]
    """Mean tokens of an answer."""
    input_tokens: float
    """Mean tokens of a prompt. Default: 0."""
    least_requests_per_minute: float
    """Requests a minute at the quietest time. Default: 0."""


class AcceleratorArgs(TypedDict, total=False):
    """What an accelerator is, where the tables do not say it."""

    cents_per_hour: float
    """Price of one accelerator in US cents an hour. Default: that of its instances, on demand in us-east-1."""
    device: str
    """Product in the labels of its nodes, such as NVIDIA-H100-80GB-HBM3."""


class VariantControllerArgs(TypedDict, total=False):
    """The controller that sizes variants in the cluster."""

    prometheus_url: str
    """URL of Prometheus with its port, which must be https."""
    insecure_skip_verify: bool
    """Whether the controller takes any certificate of Prometheus. Default: false."""
    scale_to_zero: bool
    """Whether a variant without load has no replica; nothing wakes it up again. Default: false."""
    interval: str
    """How often it decides. Default: 60s."""
    image: str
    """Its image. Default: the pinned one."""
    ca_secret: str
    """Secret in namespace inferno-autoscaler-system whose key ca.crt has the certificate of the authority behind that
    of Prometheus. Default: public authorities alone."""


class ServiceLevelsArgs(TypedDict, total=False):
    """What is promised for each model, how much is asked of it, and what accelerators cost."""

    classes: list[ServiceClassArgs]
    """Service classes; a model is in exactly one."""
    loads: dict[str, LoadArgs]
    """What is asked of each variant, by name or namespace/name."""
    accelerators: dict[str, AcceleratorArgs]
    """Accelerators, by the name that variants give them."""
    controller: VariantControllerArgs
    """The controller, with realization operator."""
