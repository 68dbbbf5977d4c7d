"""Parts of a VariantAutoscaling as arguments: how fast the model is, and where its class stands."""

from typing import Required, TypedDict


class ConfigMapKeyRefArgs(TypedDict, total=False):
    """A key of a ConfigMap in the controller's namespace."""

    name: Required[str]
    """Name of the ConfigMap."""
    key: Required[str]
    """Its key."""


class AcceleratorProfileArgs(TypedDict, total=False):
    """How fast a replica is on an accelerator: with n requests, each token takes alpha + beta * n milliseconds."""

    acc: Required[str]
    """Name of the accelerator."""
    acc_count: Required[int]
    """Accelerators of a replica, over all its pods."""
    alpha: Required[str]
    """Milliseconds for a token, such as '20.58'."""
    beta: Required[str]
    """Milliseconds that each request at once adds, such as '0.41'."""
    max_batch_size: Required[int]
    """Requests that a replica works on at once; that of the engine, at least 2."""


class ModelProfileArgs(TypedDict, total=False):
    """How fast the model is on each accelerator."""

    accelerators: Required[list[AcceleratorProfileArgs]]
    """One entry for the accelerator that the workload runs on; further ones are for comparison."""
