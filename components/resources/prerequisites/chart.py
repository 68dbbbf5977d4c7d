"""The one way in which charts are installed.

ChartComponent
└── helm.v3.Release   <name>
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from ...plan.prerequisites.charts import Chart, charts
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import ChartArgs

SYSTEM = "kube-system"
"""A namespace that every cluster has."""
_SECONDS = 900
"""Images of this field are large, and nodes may have to come first."""


class ChartComponent(pulumi.ComponentResource):
    """Installs one pinned chart and waits until what it runs is ready.

    Helm never upgrades the definitions in a chart's ``crds`` folder; see the project's notes before raising a pin.
    """

    _awaited = True
    """Whether it is installed only when what it runs is ready, and undone if that takes too long."""
    namespace: pulumi.Output[str]
    """Namespace of everything that the chart installs."""
    version: pulumi.Output[str]
    """Version of the chart."""

    def install(
        self,
        chart: str,
        name: str,
        values: Mapping[str, Any],
        args: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None,
    ) -> None:
        """Register the component and its release.

        Args:
            chart: Name in ``charts.yaml``.
            name: Logical name of component and release.
            values: The chart's values; leaves may be outputs.
            args: The component's arguments, which may hold further ``values``.
            opts: The component's options.
        """
        super().__init__(token(type(self).__name__), name, {}, opts)
        pin = charts()[chart]
        self.release = self._release(name, pin, merged(values, args.get("values", {})))
        self.namespace = pulumi.Output.from_input(pin.namespace)
        self.version = pulumi.Output.from_input(pin.version)
        self.register_outputs({"namespace": self.namespace, "version": self.version})

    def _release(self, name: str, pin: Chart, values: dict[str, Any]) -> Release:
        return Release(
            name,
            chart=pin.chart,
            version=pin.version,
            repository_opts=RepositoryOptsArgs(repo=pin.repo) if pin.repo else None,
            name=pin.release,
            namespace=pin.namespace,
            create_namespace=pin.namespace != SYSTEM,
            values=values,
            atomic=self._awaited,
            skip_await=None if self._awaited else True,
            timeout=_SECONDS,
            opts=pulumi.ResourceOptions(parent=self),
        )


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart's values with others over them: maps are merged, everything else is replaced, as Helm does."""
    both = dict(values)
    for key, value in over.items():
        there = both.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            value = merged(there, value)
        both[key] = value
    return both


NOTHING: ChartArgs = {}


class FixedChart(ChartComponent):
    """Installs a chart that has to be told nothing. What others see of it is its class alone."""

    _chart = ""
    """Name in ``charts.yaml``."""

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install it."""
        args = checked_args(name, args, ChartArgs)
        self.install(self._chart, name, self._values(), args, opts)

    @staticmethod
    def _values() -> dict[str, Any]:
        """Return the chart's values."""
        return {}
