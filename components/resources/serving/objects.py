"""Registers a rendered Kubernetes object under the type token of its typed pulumi_kubernetes class.

State, provider and preview are the real provider's; what falls away is the conversion between two spellings of
the same tree, and the import of megabytes of generated classes.
"""

import functools
import importlib.metadata
from typing import Any

import pulumi

from ...contract.schema.empty import without_empty
from ...contract.texts.secrets import replace_in_object

PACKAGE = "inference-platform"
_SECRET_FIELDS = ["data", "stringData"]


def token(component: str) -> str:
    """Return the type token of one of this package's components."""
    return f"{PACKAGE}:index:{component}"


def kubernetes_token(api_version: str, kind: str) -> str:
    """Return the token of the typed class: the core group, which has no name on the wire, is ``core`` there."""
    return f"kubernetes:{api_version if '/' in api_version else f'core/{api_version}'}:{kind}"


@functools.cache
def provider_version() -> str:
    """Return the version of the provider plugin to use: that of the installed SDK."""
    return importlib.metadata.version("pulumi-kubernetes")


class KubernetesObject(pulumi.CustomResource):
    """One Kubernetes object. Values are plain wire data; leaves may be outputs. What looks like a secret is one."""

    metadata: pulumi.Output[dict[str, Any]]
    """The object's metadata as the server stores it."""
    status: pulumi.Output[dict[str, Any] | None]
    """What its controller says of it; None where it says nothing."""

    def __init__(self, name: str, value: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        """Register ``value``; it must carry apiVersion, kind and metadata.name."""
        if value["kind"] == "Secret":
            opts = pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(additional_secret_outputs=_SECRET_FIELDS)
            )
        # A null is not sent; it names an output that the provider fills in.
        sent = replace_in_object(without_empty(value), lambda secret, _: pulumi.Output.secret(secret))
        inputs = {"status": None, **sent}
        super().__init__(kubernetes_token(value["apiVersion"], value["kind"]), name, inputs, opts)


def kubernetes_object(value: dict[str, Any], name: str, opts: pulumi.ResourceOptions) -> KubernetesObject:
    """Register a rendered object under a logical name."""
    opts.version = opts.version or provider_version()
    return KubernetesObject(name, value, opts)
