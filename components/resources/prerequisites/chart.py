"""The base of components that install a chart.

ChartComponent
├── CustomResourceDefinitionPatch   <name>-<plural>, of a family's API whose definitions Helm would not update
└── helm.v3.Release                 <name>, after the definitions
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from ...fleet.timeouts import Timeouts
from ...plan.prerequisites.charts import charts
from ...plan.prerequisites.definitions import definitions_of
from ..serving.arguments import checked_args
from ..serving.objects import provider_version, token
from ..serving.waiting import custom_timeouts
from .args import ChartArgs

SYSTEM = "kube-system"
"""A namespace of every cluster."""
_DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinitionPatch"
"""A patch creates a definition or changes the one that Helm created; other resources fail if their object exists."""
_RELEASE = "kubernetes:helm.sh/v3:Release"
_SECONDS = 900
"""Timeout of an installation: images are large, and nodes may have to be launched first."""


class HelmRelease(pulumi.CustomResource):
    """A release of Helm: to engine and provider what ``pulumi_kubernetes.helm.v3.Release`` is."""

    status: pulumi.Output[Any]
    """What Helm recorded, such as its revision."""

    def __init__(self, name: str, inputs: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        # The SDK's class sends the mark, and declares the output by a null, which is not sent.
        super().__init__(_RELEASE, name, {**inputs, "compat": "true", "status": None}, opts)


class ChartComponent(pulumi.ComponentResource):
    """Installs one pinned chart and waits until its workloads are ready.

    Helm never updates CustomResourceDefinitions in a chart's ``crds`` folder. Those of a family's API are therefore
    applied before the chart. They are retained when the component is deleted, because their objects would be deleted
    with them. Before you change the pinned version of another chart, see the project's notes.
    """

    _awaited = True
    """Whether to wait until the workloads are ready, and roll back on timeout."""
    namespace: pulumi.Output[str]
    """Namespace of the release."""
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
        """Create the component and its release.

        Args:
            chart: Name in ``charts.yaml``.
            name: Logical name of component and release.
            values: Helm values; leaves may be outputs.
            args: The component's arguments, whose ``values`` override ``values``, and whose ``version`` replaces the
                pinned one.
            opts: The component's options.
        """
        super().__init__(token(type(self).__name__), name, {}, opts)
        pin = charts()[chart]
        version = args.get("version") or pin.version
        kept = pulumi.ResourceOptions(parent=self, retain_on_delete=True, version=provider_version())
        self.definitions = [
            pulumi.CustomResource(_DEFINITION, f"{name}-{body['spec']['names']['plural']}", dict(body), kept)
            for body in definitions_of(pin, version)
        ]
        inputs = {
            "chart": pin.chart,
            "version": version,
            "repositoryOpts": {"repo": pin.repo} if pin.repo else None,
            "name": pin.release,
            "namespace": pin.namespace,
            "createNamespace": pin.namespace != SYSTEM,
            "values": merged(values, args.get("values", {})),
            "atomic": self._awaited,
            "skipAwait": None if self._awaited else True,
            "timeout": _SECONDS,
        }
        options = pulumi.ResourceOptions(
            parent=self,
            depends_on=self.definitions,
            version=provider_version(),
            # The provider reads only the input; the option shows the timeout where those of other resources are.
            custom_timeouts=custom_timeouts(Timeouts.all(_SECONDS)),
        )
        self.release = HelmRelease(name, inputs, options)
        self.namespace = pulumi.Output.from_input(pin.namespace)
        self.version = pulumi.Output.from_input(version)
        self.register_outputs({"namespace": self.namespace, "version": self.version})


def release_timeout(seconds: int | None) -> list[pulumi.ResourceTransformation]:
    """Return the transformation of a chart's component that sets the timeout of its release; none without one."""

    def set_timeout(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if args.type_ != _RELEASE:
            return None
        options = pulumi.ResourceOptions(custom_timeouts=custom_timeouts(Timeouts.all(seconds or _SECONDS)))
        props = {**args.props, "timeout": seconds}
        return pulumi.ResourceTransformationResult(props, pulumi.ResourceOptions.merge(args.opts, options))

    return [set_timeout] if seconds else []


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge Helm values as Helm does: maps are merged, everything else is replaced."""
    both = dict(values)
    for key, value in over.items():
        default = both.get(key)
        if isinstance(default, Mapping) and isinstance(value, Mapping):
            value = merged(default, value)
        both[key] = value
    return both


NOTHING: ChartArgs = {}


class FixedChart(ChartComponent):
    """Installs a chart with fixed values."""

    _chart = ""
    """Name in ``charts.yaml``."""

    def __init__(self, name: str, args: ChartArgs = NOTHING, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, ChartArgs)
        self.install(self._chart, name, self._values(), args, opts)

    @staticmethod
    def _values() -> dict[str, Any]:
        return {}
