"""Charts for clusters on AWS: node autoscalers, the load balancer controller and device plugins."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import pulumi

from ...clouds.aws.names import LOAD_BALANCER_CONTROLLER, NEURON_RESOURCE, ROLE_ANNOTATION
from ...clouds.aws.nodes.autoscaler import EXPANDER, chart_groups, discovery_keys, expander_priorities
from ...clouds.aws.nodes.pool_rules import FEATURES
from ...fleet.instances import instances
from ..prerequisites.accelerators import EVERYTHING
from ..prerequisites.chart import ChartComponent, FixedChart
from ..serving.arguments import checked_args, missing
from ..serving.site import Site
from .args import ClusterAutoscalerArgs, KarpenterArgs, LoadBalancerControllerArgs
from .argument_problems import Problems

Values = dict[str, pulumi.Input[Any]]
OnAws = Callable[[str, Site, Values, pulumi.ResourceOptions], ChartComponent]
"""Installs a chart with Helm values in a cluster."""
_LEAST_GRACE = 3600
"""Seconds that the Cluster Autoscaler waits for pods at least: what a load balancer waits for their requests."""


class NeuronDevicePlugin(FixedChart):
    """Makes Inferentia and Trainium devices available to pods. Does not install Neuron's scheduler extension."""

    _chart = "neuron-device-plugin"

    @staticmethod
    def _values() -> dict[str, Any]:
        # The chart's default list of instance types is of 2024, without Trainium 2.
        types = sorted(node.name for node in instances().values() if node.accelerator_resource == NEURON_RESOURCE)
        return {
            "neuronInstances": types,
            "npd": {"enabled": False},
            "devicePlugin": {"tolerations": [EVERYTHING]},
        }


class EfaDevicePlugin(FixedChart):
    """Makes EFA interfaces available to pods, on nodes with GPUs or Neuron devices."""

    _chart = "efa-device-plugin"

    @staticmethod
    def _values() -> dict[str, Any]:
        # The chart adds the toleration of CriticalAddonsOnly.
        return {"tolerations": [EVERYTHING]}


class ClusterAutoscaler(ChartComponent):
    """Scales the node groups of GpuNodeGroups and Cluster.

    Its permissions come from the Pod Identity of its service account (see Identities).
    """

    def __init__(self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, ClusterAutoscalerArgs, _bound_problems)
        discovery = {"clusterName": args["cluster_name"], "tags": discovery_keys(args["cluster_name"])}
        values: dict[str, Any] = {
            "fullnameOverride": "cluster-autoscaler",
            "cloudProvider": "aws",
            "awsRegion": args["region"],
            **({} if args.get("bounded_only") else {"autoDiscovery": discovery}),
            "rbac": {"serviceAccount": _account("cluster-autoscaler", args.get("role_arn"))},
            "extraArgs": {
                "expander": EXPANDER if "bounds" in args else "least-waste",
                # Model pods cache weights on local disks, which must not prevent scale-down.
                "skip-nodes-with-local-storage": False,
                "scale-down-unneeded-time": "10m",
                # The default, ten minutes, would cut the grace period of pods on a node that it removes.
                "max-graceful-termination-sec": max(_LEAST_GRACE, args.get("longest_grace", 0)),
                "enforce-node-group-min-size": True,
            },
        }
        if "bounds" in args:
            bounds = args["bounds"]
            known: pulumi.Output[list[Any]] = pulumi.Output.from_input(cast("Any", bounds))
            # A plain list stays plain, so that previews show it.
            groups = chart_groups(bounds) if isinstance(bounds, list) else known.apply(chart_groups)
            values |= {"autoscalingGroups": groups, "expanderPriorities": known.apply(expander_priorities)}
        self.install("cluster-autoscaler", name, values, args, opts)


def _bound_problems(args: ClusterAutoscalerArgs) -> Problems:
    yield from missing(args, ClusterAutoscalerArgs)
    bounds = args.get("bounds")
    if args.get("bounded_only") and bounds is None:
        yield "bounded_only", "leaves no node groups to scale without bounds; set bounds, or remove it"
    for index, bound in enumerate(bounds if isinstance(bounds, list) else ()):
        if not isinstance(bound, Mapping) or not {"name", "minSize", "maxSize"} <= bound.keys():
            yield (
                f"bounds[{index}]",
                f"must have name, minSize and maxSize, as in GpuNodeGroups.bounds, found {bound!r}",
            )


class Karpenter(ChartComponent):
    """Launches nodes for Pending pods. Its permissions come from its Pod Identity (see Identities).

    Runs on at least two nodes that it did not launch.
    """

    def __init__(self, name: str, args: KarpenterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        args = checked_args(name, args, KarpenterArgs, _feature_problems)
        gates = dict.fromkeys(args.get("features", []), True)
        values = {
            "settings": {
                "clusterName": args["cluster_name"],
                "interruptionQueue": args["interruption_queue"],
                **({"featureGates": gates} if gates else {}),
            },
            "serviceAccount": _account("karpenter", args.get("role_arn")),
            "replicas": 2,
        }
        self.install("karpenter", name, values, args, opts)


def _feature_problems(args: KarpenterArgs) -> Problems:
    yield from missing(args, KarpenterArgs)
    for feature in args.get("features", []):
        if feature not in FEATURES:
            yield "features", f"unknown feature {feature!r}; known features: {', '.join(FEATURES)}"


class LoadBalancerController(ChartComponent):
    """Creates AWS load balancers for Services. Its permissions come from its Pod Identity (see Identities).

    Its Service webhook is disabled: it would reject every new Service while its pods start (lws-hpa spec 2.2), and
    the Services of this package set their load balancer class themselves.
    """

    def __init__(
        self, name: str, args: LoadBalancerControllerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        args = checked_args(name, args, LoadBalancerControllerArgs)
        values = {
            "clusterName": args["cluster_name"],
            "region": args["region"],
            "vpcId": args["vpc_id"],
            "serviceAccount": _account("aws-load-balancer-controller", args.get("role_arn")),
            "enableServiceMutatorWebhook": False,
            "replicaCount": 2,
            # The pod webhook injects readiness gates, and fails open while the controller is unavailable.
            "podDisruptionBudget": {"maxUnavailable": 1},
        }
        self.install(LOAD_BALANCER_CONTROLLER, name, values, args, opts)


def _account(name: str, role_arn: pulumi.Input[str] | None) -> dict[str, Any]:
    """Return the values of a chart's service account, annotated with its role if there is no Pod Identity."""
    return {"name": name, **({"annotations": {ROLE_ANNOTATION: role_arn}} if role_arn else {})}


def _cluster_autoscaler(name: str, site: Site, values: Values, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: ClusterAutoscalerArgs = {"cluster_name": site.name, "region": site.region, "values": values}
    if site.node_bounds is not None:
        args |= {"bounds": site.node_bounds, "bounded_only": site.bounded_only}
    if site.longest_grace > _LEAST_GRACE:
        args["longest_grace"] = site.longest_grace
    role = site.role_of("cluster-autoscaler")
    return ClusterAutoscaler(name, {**args, "role_arn": role} if role else args, opts)


def _karpenter(name: str, site: Site, values: Values, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: KarpenterArgs = {
        "cluster_name": site.name,
        "interruption_queue": site.interruption_queue,
        "values": values,
    }
    if site.features:
        args["features"] = list(site.features)
    role = site.role_of("karpenter")
    return Karpenter(name, {**args, "role_arn": role} if role else args, opts)


def _load_balancers(name: str, site: Site, values: Values, opts: pulumi.ResourceOptions) -> ChartComponent:
    args: LoadBalancerControllerArgs = {
        "cluster_name": site.name,
        "region": site.region,
        "vpc_id": site.vpc_id,
        "values": values,
    }
    role = site.role_of(LOAD_BALANCER_CONTROLLER)
    return LoadBalancerController(name, {**args, "role_arn": role} if role else args, opts)


ON_AWS: Mapping[str, OnAws] = {
    "cluster-autoscaler": _cluster_autoscaler,
    "efa-device-plugin": lambda name, _, values, opts: EfaDevicePlugin(name, {"values": values}, opts),
    "karpenter": _karpenter,
    LOAD_BALANCER_CONTROLLER: _load_balancers,
    "neuron-device-plugin": lambda name, _, values, opts: NeuronDevicePlugin(name, {"values": values}, opts),
}
"""Component of each chart that only clusters on AWS have."""
_REQUIRED_FACTS = {
    "cluster-autoscaler": ("name", "region"),
    "karpenter": ("name", "interruption_queue"),
    LOAD_BALANCER_CONTROLLER: ("name", "region", "vpc_id"),
}


def missing_facts(site: Site, charts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the facts about a cluster that charts require and that are missing, as argument and reason."""
    for chart in charts:
        for fact in _REQUIRED_FACTS.get(chart, ()):
            if getattr(site, fact) == "":
                yield f"cluster.{fact}", f"is required to install {chart}; set it"
