"""Where what exists on AWS is read from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.contract.texts.printable import printable

from ...errors import WorkbenchError
from ...inspecting.snapshot import ClusterSnapshot
from .inventory import Inventory
from .options import OwnedPart
from .owning import check_own, own
from .settings import AwsSettings, aws_settings


@dataclass(frozen=True, slots=True)
class AwsSource:
    """The options of ``adopt`` about AWS, of which at most one source is given.

    Attributes:
        cluster: Name of a cluster to read from the API.
        name: Name of the cluster in a file; empty for the only one.
        own: What the stack owns instead of only using it.
    """

    cluster: str = ""
    terraform: Path | None = None
    eksctl: Path | None = None
    cloudformation: Sequence[Path] = ()
    region: str = ""
    profile: str = ""
    name: str = ""
    own: Sequence[OwnedPart] = ()

    @property
    def options(self) -> list[str]:
        """The options that are given."""
        given = {
            "--aws": self.cluster,
            "--terraform": self.terraform,
            "--eksctl": self.eksctl,
            "--cloudformation": self.cloudformation,
        }
        return [option for option, value in given.items() if value]

    def check(self) -> None:
        """Check that the options fit together.

        Raises:
            WorkbenchError: they do not.
        """
        if len(self.options) > 1:
            raise WorkbenchError(f"{' and '.join(self.options)}: pass one of them", 2)
        if not self.options and (self.region or self.profile):
            raise WorkbenchError("--region and --profile: only with --aws or a file that describes AWS", 2)
        check_own(self.own, from_api=bool(self.cluster))

    def settings(self, inventory: Inventory | None = None, snapshot: ClusterSnapshot | None = None) -> AwsSettings:
        """Return the settings that use what exists, or own it.

        Args:
            inventory: What exists on AWS; None to read it.
            snapshot: The objects of the cluster; None if they are not read.

        Raises:
            WorkbenchError: it cannot be read, or does not determine the settings.
        """
        inventory = inventory or self.inventory()
        return own(aws_settings(inventory, self.region, self.profile, snapshot), inventory, self.own)

    def inventory(self) -> Inventory:
        """Return what exists on AWS.

        Raises:
            WorkbenchError: it cannot be read.
        """
        if self.cluster:
            from .api import read_api

            return read_api(self.cluster, self.region, self.profile)
        if self.terraform:
            from .terraform import read_terraform

            return read_terraform(self.terraform, self.name)
        if self.eksctl:
            from .eksctl import read_eksctl

            return read_eksctl(self.eksctl, self.name)
        from .cloudformation import read_cloudformation

        return read_cloudformation(self.cloudformation, self.name)


def aws_lines(settings: AwsSettings) -> Iterator[str]:
    """Yield the report about what exists on AWS."""
    values = settings.values
    yield f"AWS: cluster {values['clusterName']} in {values['region']}"
    subnets = values["network"]["privateSubnets"]
    yield f"  {values['network']['vpcId']}: " + ", ".join(f"{zone} {subnet}" for zone, subnet in subnets.items())
    types: dict[str, Any] = values.get("gpuNodes", {}).get("types", {})
    for name, entry in types.items():
        groups = entry.get("existingGroups")
        held = entry.get("reservation", {}).get("id")
        owned = [group["name"] for group in entry.get("ownedGroups", ())]
        parts = [f"owned {', '.join(owned)}"] if owned else []
        parts += [f"existing {', '.join(groups)}"] if groups else []
        where = "; ".join(parts) or f"created in {held} when a model needs it"
        most = f", at most {entry['maxNodes']}" if "maxNodes" in entry else ""
        yield f"  {name} ({entry['capacity']}{most}): {where}"
    if not types:
        yield "  no nodes with accelerators: the stack creates those that models need"
    if settings.ranges:
        ranges = ", ".join(settings.ranges)
        yield f"  with network policies, load balancers need frontDoor.balancerCidrs: [{ranges}], those of the VPC"
    if settings.findings:
        yield "  not expressed by the settings:"
        yield from (printable(f"    {finding}") for finding in settings.findings)
    if settings.notes:
        yield "  owned by others as well:"
        yield from (printable(f"    {note}") for note in settings.notes)
