"""The base class of ModelBooster and ModelServing: several endpoints, and a manifest for other components."""

from typing import Any

import pulumi

from ...fleet.rendered import Rendered
from ..serving.workload_component import ReferencedComponent


class ServingComponent(ReferencedComponent):
    """A component with several endpoints and a manifest to which other components refer."""

    urls: pulumi.Output[dict[str, str]]
    """URLs of the endpoints, by endpoint name."""

    def further_outputs(self, rendered: Rendered) -> dict[str, Any]:
        """Return the manifest and all endpoints."""
        urls: Any = dict(self.endpoints)
        self.urls = pulumi.Output.from_input(urls)
        return {**super().further_outputs(rendered), "urls": self.urls}
