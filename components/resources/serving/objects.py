"""Creates rendered Kubernetes objects with the type tokens of pulumi_kubernetes, but without its classes.

State, provider and previews are those of the real provider. This avoids the conversion between snake_case and wire
names, and the import of megabytes of generated classes.
"""

import functools
import importlib.metadata
from typing import Any

import pulumi

from ...contract.schema.empty import without_empty
from ...contract.texts.secrets import replace_in_object
from ...plan.timeouts.objects import lone_timeouts
from .waiting import custom_timeouts

PACKAGE = "inference-platform"
PROVIDER_VERSION = "4.34.2"
"""Version of the provider plugin without the SDK: that of the lock file."""
_SECRET_FIELDS = ["data", "stringData"]


def token(component: str) -> str:
    """Return the type token of one of this package's components."""
    return f"{PACKAGE}:index:{component}"


def kubernetes_token(api_version: str, kind: str) -> str:
    """Return the type token of pulumi_kubernetes, which calls the core group ``core``."""
    return f"kubernetes:{api_version if '/' in api_version else f'core/{api_version}'}:{kind}"


@functools.cache
def provider_version() -> str:
    """Return the version of the provider plugin: that of the installed SDK, which programs may use beside us."""
    try:
        return importlib.metadata.version("pulumi-kubernetes")
    except importlib.metadata.PackageNotFoundError:
        return PROVIDER_VERSION


class KubernetesObject(pulumi.CustomResource):
    """A Kubernetes object in wire form; leaves may be outputs. Values that look like secrets become secrets."""

    metadata: pulumi.Output[dict[str, Any]]
    """The object's metadata as the server stores it."""
    status: pulumi.Output[dict[str, Any] | None]
    """Status of the object; None without one."""

    def __init__(self, name: str, value: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        """Create the object; ``value`` must have apiVersion, kind and metadata.name."""
        if value["kind"] == "Secret":
            opts = pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(additional_secret_outputs=_SECRET_FIELDS)
            )
        # The SDK does not send the null; it only declares the output.
        sent = replace_in_object(without_empty(value), lambda secret, _: pulumi.Output.secret(secret))
        inputs = {"status": None, **sent}
        super().__init__(kubernetes_token(value["apiVersion"], value["kind"]), name, inputs, opts)


def kubernetes_object(value: dict[str, Any], name: str, opts: pulumi.ResourceOptions) -> KubernetesObject:
    """Create an object, whose timeouts are those of its manifest alone unless the options have others."""
    opts.version = opts.version or provider_version()
    opts.custom_timeouts = opts.custom_timeouts or custom_timeouts(lone_timeouts(value))
    return KubernetesObject(name, value, opts)
