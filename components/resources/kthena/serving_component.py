"""What ModelBooster and ModelServing share: several endpoints, and a manifest for what refers to them."""

from typing import Any

import pulumi

from ...fleet.rendered import Rendered
from ..serving.workload_component import ReferencedComponent


class ServingComponent(ReferencedComponent):
    """A component with several endpoints, whose resource others refer to as well."""

    urls: pulumi.Output[dict[str, str]]
    """URL of each of its endpoints, by their names."""

    def further_outputs(self, rendered: Rendered) -> dict[str, Any]:
        """Return the manifest and all endpoints."""
        urls: Any = dict(self.endpoints)
        self.urls = pulumi.Output.from_input(urls)
        return {**super().further_outputs(rendered), "urls": self.urls}
