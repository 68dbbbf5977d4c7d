"""Kthena's ModelRoute: which ModelServers answer for a model.

ModelRoute
├── Service                   <name>-lb, where it has one of its own
├── ModelRoute, ModelServer   <name>, <server>, where prefill and decode are apart
└── ModelRoute                <name>, with realization operator instead of all of these
"""

from typing import Any, Required, TypedDict

import pulumi

from ...families.kthena.names import NETWORKING_API
from ...families.kthena.types.networking import ModelRouteSpec
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.rendering_options import options_of
from ..serving.workload_component import WorkloadComponent, render_one
from .routing_args import RouteRateLimitArgs, RouteRuleArgs


class ModelRouteArgs(TypedDict, total=False):
    """Arguments of a ModelRoute."""

    name: str
    """Name of the route. Default: the component's name."""
    namespace: str
    """Namespace of the route and of its ModelServers. Default: default."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the Kthena resource. Default: native."""
    servers: Required[pulumi.Input[list[dict[str, Any]]]]
    """The ModelServers that the rules name, in wire form: the ``manifest`` of each ModelServer component."""
    servings: pulumi.Input[list[dict[str, Any]]]
    """What runs the pods that the ModelServers select, in wire form: the ``manifest`` of each ModelServing
    component."""
    model_name: str
    """Name that requests give as their model; cannot be changed later."""
    lora_adapters: list[str]
    """Names of adapters that requests may give as well, at most 10."""
    rules: Required[list[RouteRuleArgs]]
    """Which requests go where; the first rule that matches counts. At most 16."""
    rate_limit: RouteRateLimitArgs
    """How many tokens may pass."""


class ModelRoute(WorkloadComponent):
    """Routes requests for a model to the pods of ModelServers.

    Does not create the pods, the ModelServers or a router.
    """

    def __init__(self, name: str, args: ModelRouteArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a rule names a ModelServer that is not there.
        """
        self.register(name, _render(name, args), opts)


def _render(name: str, args: ModelRouteArgs) -> Rendered:
    models = model_by_argument(ModelRouteSpec)
    given = Arguments(name, args, ModelRouteArgs, {**models, "rules": models["rules_"]})
    options = options_of(given)
    referred = given.manifests("servers", "ModelServer")
    if "servings" in given.values:
        referred += given.manifests("servings", "ModelServing")
    given.check()
    # The attribute of the contract's type has an underscore: its rules of validation are called ``rules``.
    spec = wire_names({**given.values, "rules_": given.get("rules")}, ModelRouteSpec)
    metadata = {"name": given.get("name", name), "namespace": given.get("namespace", "default")}
    return render_one(given.resource(NETWORKING_API, "ModelRoute", metadata, spec), referred, options)
