"""What ModelBooster and ModelServing share: arguments about pods, and a manifest for what refers to them."""

from typing import Any, TypedDict

import pulumi

from ...fleet.rendered import Rendered
from ..serving.workload_component import ReferredComponent


class ServingArgs(TypedDict, total=False):
    """Arguments of every component of Kthena that runs pods. All are plain: they decide which objects there are."""

    name: str
    """Name of the resource, which those of the Kubernetes objects begin with. Default: the component's name."""
    namespace: str
    """Namespace of the Kubernetes objects. Default: default."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the Kthena resource. Default: native."""
    tolerations: list[dict[str, Any]]
    """Tolerations to add to every pod."""
    service_account_name: str
    """Service account of the pods."""
    image_pull_secrets: list[str]
    """Names of Secrets to pull images with."""
    priority_class_name: str
    """Priority class of the pods."""
    pod_annotations: dict[str, str]
    """Annotations to add to every pod."""
    pod_labels: dict[str, str]
    """Labels to add to every pod."""
    cache_claim: str
    """PersistentVolumeClaim that keeps loaded weights across pod restarts, where the resource names no cache."""
    cache_host_path: str
    """Folder on the node that keeps loaded weights across pod restarts, where the resource names no cache."""


class ServingComponent(ReferredComponent):
    """A component with several endpoints, whose resource others refer to as well."""

    urls: pulumi.Output[dict[str, str]]
    """URL of each of its endpoints, by their names."""

    def further_outputs(self, rendered: Rendered) -> dict[str, Any]:
        """Return the manifest and all endpoints."""
        urls: Any = dict(self.endpoints)
        self.urls = pulumi.Output.from_input(urls)
        return {**super().further_outputs(rendered), "urls": self.urls}
