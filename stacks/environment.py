"""Deploys one environment: creates the cluster and the fleet from settings and manifests, and exports outputs."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import pulumi

from components.contract.extras import with_extra
from components.contract.problems import errors
from components.families import load
from components.fleet.instances import instances_beside
from components.plan.plan import Plan, plan
from components.resources.serving.arguments import log_warnings
from components.resources.serving.fleet.files import read_text
from components.resources.serving.kubernetes_provider import KubernetesProvider
from components.resources.serving.model_fleet import ModelFleet
from components.resources.serving.site import Site

from .adopting import Imports, without_omitted
from .blame import settings_blamed
from .clouds import CloudName
from .costs import environment_bill
from .settings import Settings
from .settings_problems import with_settings_problems
from .stack_file import StackFile

FLEET = "fleet"

Listener = Callable[[Settings, Plan], None]
_LISTENER: ContextVar[Listener] = ContextVar("listener", default=lambda *_: None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a listener with the plan of ``deploy`` before it creates anything, so that callers need not plan again."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def deploy(settings: Settings) -> None:
    """Create everything that the settings describe, and export endpoints, models and nodes.

    Raises:
        pulumi.RunError: a manifest is invalid or does not fit; lists all problems, and creates nothing.
    """
    with instances_beside(settings.types):
        _deploy(settings)


def _deploy(settings: Settings) -> None:
    manifests = load((Path(path) for path in settings.models), settings.releases)
    planned = without_omitted(plan(manifests, settings.environment(read_text)), settings.adopted)
    planned = with_settings_problems(planned, settings, Path())
    _LISTENER.get()(settings, planned)
    lines = [str(problem) for problem in errors(planned.problems)]
    if lines:
        log_warnings(planned.problems, str)
        count = f"{len(lines)} problem{'s' * (len(lines) > 1)} found; nothing was created"
        raise pulumi.RunError("\n".join([count, *lines]))
    bill = environment_bill(settings, planned)
    provider, site, aws = _provide_cluster(settings, planned)
    imports = Imports(settings.adopted)
    options = pulumi.ResourceOptions(providers=[provider], transformations=imports.transformations)
    fleet = ModelFleet.from_plan(FLEET, planned, settings, site, bill, options)
    fleet.log_warnings(planned.problems, str)
    imports.warn_about_unused(_file(settings))
    # The plain values instead of one output each: an unknown address then leaves the rest known at preview.
    for name, value in fleet.described.items():
        if value or name != "adapterRules":
            pulumi.export(name, value)
    if aws is not None:
        from .dns import gateway_name, to_provide

        for name, value in gateway_name(settings, planned, fleet.door, aws).items():
            pulumi.export(name, value)
        missing = to_provide(settings, planned)
        if missing:
            pulumi.export("toProvide", dict(missing))


def _file(settings: Settings) -> StackFile:
    """Return the file of the stack; the program runs in the project folder."""
    return StackFile(settings.file, Path())


def _provide_cluster(
    settings: Settings, planned: Plan
) -> tuple[KubernetesProvider, Site, pulumi.ProviderResource | None]:
    """Create the cluster, if the settings name a cloud, and export its outputs."""
    if settings.cloud != CloudName.AWS:
        return _kubeconfig_provider(settings), Site(settings.cluster_name), None
    try:
        from .cloud import make_cloud
    except ModuleNotFoundError as error:
        missing = with_extra(error, str(settings.cloud))
        raise pulumi.RunError(_file(settings).message("cloud", str(missing))) from error

    with settings_blamed(_file(settings)):
        cloud = make_cloud(settings, planned)
    for name, value in cloud.exports.items():
        pulumi.export(name, value)
    return cloud.provider, cloud.site, cloud.aws


def _kubeconfig_provider(settings: Settings) -> KubernetesProvider:
    if not os.path.isfile(settings.kubeconfig):  # noqa: PTH113  Path.is_file raises if the name is too long
        reason = (
            f"no kubeconfig at {settings.kubeconfig}; run `workbench up --start-cluster` to start a simulated "
            "cluster, or set the kubeconfig of your own cluster"
        )
        raise pulumi.RunError(_file(settings).message("kubeconfig", reason))
    return KubernetesProvider(
        "cluster",
        kubeconfig=settings.kubeconfig,
        context=settings.context or None,
        cluster_identifier=settings.cluster_name,
        enable_server_side_apply=True,
        # Adopts objects whose creation a killed run had begun; a simulated cluster has no objects of other owners.
        upsert_existing_objects=settings.simulated_nodes or None,
        # Adopted objects have fields of former managers, which would conflict with the first change of each.
        enable_patch_force=bool(settings.adopted.objects) or None,
    )
