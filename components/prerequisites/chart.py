"""The one way in which charts are installed.

ChartComponent
└── helm.v3.Release   <name>
"""

from collections.abc import Mapping
from typing import Any, TypedDict

import pulumi
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from ..serving.objects import token
from .charts import charts

_SECONDS = 900
"""Images of this field are large, and nodes may have to come first."""


class ChartComponent(pulumi.ComponentResource):
    """Installs one pinned chart and waits until what it runs is ready.

    Helm never upgrades the definitions in a chart's ``crds`` folder; see the project's notes before raising a pin.
    """

    namespace: pulumi.Output[str]
    """Namespace of everything that the chart installs."""
    version: pulumi.Output[str]
    """Version of the chart."""

    def install(self, chart: str, name: str, values: Mapping[str, Any], opts: pulumi.ResourceOptions | None) -> None:
        """Register the component and its release.

        Args:
            chart: Name in ``charts.yaml``.
            name: Logical name of component and release.
            values: The chart's values; leaves may be outputs.
            opts: The component's options.
        """
        super().__init__(token(type(self).__name__), name, {}, opts)
        pin = charts()[chart]
        self.release = Release(
            name,
            chart=pin.chart,
            version=pin.version,
            repository_opts=RepositoryOptsArgs(repo=pin.repo) if pin.repo else None,
            name=pin.release,
            namespace=pin.namespace,
            create_namespace=pin.namespace != "kube-system",
            values=dict(values),
            atomic=True,
            timeout=_SECONDS,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.namespace = pulumi.Output.from_input(pin.namespace)
        self.version = pulumi.Output.from_input(pin.version)
        self.register_outputs({"namespace": self.namespace, "version": self.version})


class NoArgs(TypedDict):
    """Arguments of a component that needs to be told nothing."""


NOTHING: NoArgs = {}


class FixedChart(ChartComponent):
    """Installs a chart of which there is nothing to choose. What others see of it is its class alone."""

    _chart = ""
    """Name in ``charts.yaml``."""

    def __init__(
        self,
        name: str,
        args: NoArgs = NOTHING,  # noqa: ARG002  every component of a plugin takes some
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Install it."""
        self.install(self._chart, name, self._values(), opts)

    @staticmethod
    def _values() -> dict[str, Any]:
        """Return the chart's values."""
        return {}
