"""CustomResourceDefinitions of the kinds that a stack uses.

CustomResources
└── CustomResourceDefinition   <name>-<plural>, one per kind
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pulumi

from ...contract.kinds import Kinds
from ...contract.schema.crds import crd
from ...families import kinds, released, releases_of
from ...plan.prerequisites.pod_groups import POD_GROUP
from ..serving.arguments import checked_args
from ..serving.objects import KubernetesObject, kubernetes_object, token
from .args import CustomResourcesArgs


def installable(releases: Mapping[str, str] = MappingProxyType({})) -> Kinds:
    """Return the kinds of all families, and PodGroup, which some of their objects use.

    Args:
        releases: The release of the API, by family.
    """
    return Kinds([*kinds(releases), POD_GROUP])


class CustomResources(pulumi.ComponentResource):
    """Installs CustomResourceDefinitions; the API server then validates and defaults kinds as this package does.

    Does not install their controllers; on clusters that run pods, install the charts.
    """

    kinds: pulumi.Output[list[str]]
    """The installed kinds."""

    def __init__(self, name: str, args: CustomResourcesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create one definition per kind.

        Raises:
            InvalidArguments: kinds are unknown; every one is listed.
        """
        args = checked_args(name, args, CustomResourcesArgs, _problems)
        super().__init__(token("CustomResources"), name, {}, opts)
        self.definitions: list[KubernetesObject] = []
        known = installable(args.get("releases", {}))
        for kind in args["kinds"]:
            value = crd(known.by_name(kind))
            child = f"{name}-{value['spec']['names']['plural']}"
            self.definitions.append(kubernetes_object(value, child, pulumi.ResourceOptions(parent=self)))
        self.kinds = pulumi.Output.from_input(list(args["kinds"]))
        self.register_outputs({"kinds": self.kinds})


def _problems(args: CustomResourcesArgs) -> Iterator[tuple[str, str]]:
    if "kinds" not in args:
        yield "kinds", "is required"
        return
    releases = dict(args.get("releases", {}))
    for family, release in args.get("releases", {}).items():
        if family not in released():
            yield f"releases.{family}", f"unknown family; known: {', '.join(released())}"
        elif release not in releases_of(family).names:
            names = ", ".join(releases_of(family).names)
            yield f"releases.{family}", f"must be one of {names}, found {release!r}"
        else:
            continue
        del releases[family]
    for position, name in enumerate(args["kinds"]):
        try:
            crd(installable(releases).by_name(name))
        except ValueError as error:
            yield f"kinds[{position}]", str(error)
