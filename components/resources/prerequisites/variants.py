"""The variant autoscaler, which no chart installs at the contract's version.

VariantAutoscaler
└── any Kubernetes object   <name>-<kind>-<name of the object>, each after the one before
"""

from collections.abc import Iterator
from typing import Any

import pulumi
from pydantic import ValidationError

from ...contract.problems import field_path
from ...families import operator_family, operator_objects, releases_of, uninstallable
from ...families.family import OperatorSite
from ...fleet.images import images_in
from ...plan.faults import faults
from ...plan.prerequisites.charts import known
from ...plan.prerequisites.prometheus import PROMETHEUS_ACCOUNT
from ...plan.sections.levels import ControllerSettings, LevelSettings
from ..serving.arguments import checked_args
from ..serving.objects import KubernetesObject, kubernetes_object, token
from .args import VariantAutoscalerArgs

_NAME = "wva"
"""In ``objects.yaml``."""
_SETTINGS = tuple(ControllerSettings.model_fields)


class VariantAutoscaler(pulumi.ComponentResource):
    """Installs the controller that computes the number of replicas of each variant of a model.

    It queries Prometheus over HTTPS only, and starts only when Prometheus responds. It does not scale: autoscalers
    follow its metrics. It reads service levels and accelerator costs from ConfigMaps that ModelFleet creates.
    """

    namespace: pulumi.Output[str]
    """Namespace of its objects."""
    version: pulumi.Output[str]
    """Release of the controller's project that the objects match."""

    def __init__(self, name: str, args: VariantAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the objects.

        Raises:
            InvalidArguments: arguments are invalid; every problem is listed.
        """
        args = checked_args(name, args, VariantAutoscalerArgs, _problems)
        super().__init__(token("VariantAutoscaler"), name, {}, opts)
        self.objects: list[KubernetesObject] = []
        for body in operator_objects(_NAME, _site(args)):
            if body["kind"] == "Namespace" and not args.get("create_namespace", True):
                continue
            child = f"{name}-{body['kind'].lower()}-{body['metadata']['name']}"
            # The variants would be deleted with their definition.
            kept = body["kind"] == "CustomResourceDefinition"
            options = pulumi.ResourceOptions(
                parent=self, depends_on=self.objects[-1:], retain_on_delete=True if kept else None
            )
            self.objects.append(kubernetes_object(body, child, options))
        self.namespace = pulumi.Output.from_input(known()[_NAME].namespace)
        self.version = pulumi.Output.from_input(args.get("release") or known()[_NAME].version)
        self.register_outputs({"namespace": self.namespace, "version": self.version})


def controller_image(args: VariantAutoscalerArgs) -> str:
    """Return the controller's image."""
    return next(image for body in operator_objects(_NAME, _site(args)) for image in images_in(body))


def _settings_in(args: VariantAutoscalerArgs) -> dict[str, Any]:
    return {key: value for key, value in args.items() if key in _SETTINGS}


def _site(args: VariantAutoscalerArgs) -> OperatorSite:
    settings = LevelSettings(
        controller=ControllerSettings.model_validate(_settings_in(args), by_name=True, by_alias=False)
    )
    return OperatorSite(
        levels=settings.levels("<program>"),
        interval=args.get("scrape_interval", "15s"),
        monitor_labels=args.get("monitor_labels", {}),
        scraper=args.get("scraper_namespace", known()["prometheus"].namespace),
        account=args.get("scraper_account", PROMETHEUS_ACCOUNT),
        guarded=args.get("network_policy", False),
        release=args.get("release", ""),
    )


def _problems(args: VariantAutoscalerArgs) -> Iterator[tuple[str, str]]:
    if not args.get("prometheus_url"):
        yield "prometheus_url", "is required, and must be an https URL, which the controller requires"
    if release := args.get("release"):
        family = operator_family(_NAME)
        if release not in releases_of(family).names:
            yield "release", f"must be one of {', '.join(releases_of(family).names)}, found {release!r}"
        elif why := uninstallable(_NAME, {family: release})[1]:
            yield "release", why
    try:
        ControllerSettings.model_validate(_settings_in(args), by_name=True, by_alias=False)
    except ValidationError as error:
        for fault in faults(error, ControllerSettings, by_name=True):
            yield field_path(fault.path), fault.reason
