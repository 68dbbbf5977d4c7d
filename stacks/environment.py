"""One environment: settings and manifests in, the cluster and the fleet of models registered, exports out."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import pulumi
import pulumi_kubernetes

from components.contract.problems import Problem, errors
from components.families import load
from components.plan.plan import Plan, plan
from components.resources.serving.arguments import log_warnings
from components.resources.serving.fleet.files import read_text
from components.resources.serving.fleet.prices import own_prices
from components.resources.serving.model_fleet import ModelFleet
from components.resources.serving.site import Site

from .blame import settings_blamed
from .clouds import CloudName
from .costs import environment_bill
from .settings import Settings

FLEET = "fleet"

Listener = Callable[[Settings, Plan], None]
_LISTENER: ContextVar[Listener] = ContextVar("listener", default=lambda *_: None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell somebody of what ``deploy`` plans, before it refuses or registers anything: nobody has to plan twice."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def deploy(settings: Settings) -> None:
    """Register everything that the settings describe and export endpoints, models and nodes.

    Raises:
        pulumi.RunError: a manifest is wrong or does not fit; every problem is listed and nothing is registered.
    """
    planned = plan(load(Path(path) for path in settings.models), settings.environment(read_text))
    _LISTENER.get()(settings, planned)
    own, wrong = own_prices(settings.prices)
    found = [*planned.problems, *wrong]
    _refuse(found)
    bill = environment_bill(settings, planned, own)
    provider, site, aws = _cluster(settings, planned)
    options = pulumi.ResourceOptions(providers=[provider])
    fleet = ModelFleet.from_plan(FLEET, planned, settings, site, bill, options)
    fleet.log_warnings(found, str)
    # As it is described, and not as one output: an address that is not known yet leaves the rest known.
    for name, value in fleet.described.items():
        pulumi.export(name, value)
    if aws is not None:
        from .dns import gateway_name, to_provide

        for name, value in gateway_name(settings, planned, fleet.door, aws).items():
            pulumi.export(name, value)
        missing = to_provide(settings, planned)
        if missing:
            pulumi.export("toProvide", dict(missing))


def _refuse(problems: Sequence[Problem]) -> None:
    """Refuse what cannot work, and say what else was found; where all works, that is logged at resources."""
    lines = [str(problem) for problem in errors(problems)]
    if lines:
        log_warnings(problems, str)
        count = f"{len(lines)} problem{'s' * (len(lines) > 1)} found; nothing was created"
        raise pulumi.RunError("\n".join([count, *lines]))


def _cluster(
    settings: Settings, planned: Plan
) -> tuple[pulumi_kubernetes.Provider, Site, pulumi.ProviderResource | None]:
    """Register the cluster, where it is ours, and export what is known of it."""
    if settings.cloud != CloudName.AWS:
        return _provider(settings), Site(settings.cluster_name), None
    from .cloud import make_cloud

    with settings_blamed(settings.file):
        cloud = make_cloud(settings, planned)
    for name, value in cloud.exports.items():
        pulumi.export(name, value)
    return cloud.provider, cloud.site, cloud.aws


def _provider(settings: Settings) -> pulumi_kubernetes.Provider:
    if not os.path.isfile(settings.kubeconfig):  # noqa: PTH113  Path's own raises where the name is too long
        raise pulumi.RunError(
            f"no kubeconfig at {settings.kubeconfig} (inference-platform:kubeconfig); run `make up` to start a "
            "simulated cluster, which writes it there, or set the kubeconfig of your own cluster"
        )
    return pulumi_kubernetes.Provider(
        "cluster",
        kubeconfig=settings.kubeconfig,
        context=settings.context or None,
        cluster_identifier=settings.cluster_name,
        enable_server_side_apply=True,
        # Nobody else creates objects in a simulated cluster: what a killed run had begun to create is taken over.
        upsert_existing_objects=settings.simulated_nodes or None,
    )
