"""The answers that a new repository is written from."""

import enum
import re
from dataclasses import dataclass

import yaml

from components.contract.problems import did_you_mean, some_of
from components.contract.texts.printable import printable

from ..errors import WorkbenchError


class ClusterChoice(enum.StrEnum):
    """The cluster of the second stack; the first is the simulated one."""

    EXISTING = "existing"
    EKS = "eks"


class FamilyChoice(enum.StrEnum):
    """The system whose kinds declare the first model."""

    LLMAZ = "llmaz"
    LLMKUBE = "llmkube"
    KTHENA = "kthena"
    LLMD = "llmd"


class CiChoice(enum.StrEnum):
    """Where pull requests are planned."""

    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


ACCELERATORS = {"g5.2xlarge": "A10G", "g6.2xlarge": "L4", "g6e.2xlarge": "L40S"}
"""The instance types of the first model, in order of preference, each with the name of its one accelerator."""
_MEASURED = "g6e.2xlarge"
"""The type for which there are public figures of speed, which a VariantAutoscaling needs."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_LENGTH = 50
"""Pulumi allows 100 characters, EKS 100 for the name of the cluster that is derived from it."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to the five questions.

    Attributes:
        region: AWS region of an EKS cluster.
        gateway: Whether clients reach the models through one gateway with TLS and API keys.
    """

    cluster: ClusterChoice
    region: str
    family: FamilyChoice
    gateway: bool
    ci: CiChoice

    @property
    def stack(self) -> str:
        """Return the name of the stack of the chosen cluster, by which all pages and examples know such a cluster."""
        return "dev" if self.cluster is ClusterChoice.EKS else "shared"

    @property
    def instance_type(self) -> str:
        """Return the instance type of the first model.

        Raises:
            WorkbenchError: the region is unknown, or offers none of the types.
        """
        candidates = [_MEASURED] if self.family is FamilyChoice.LLMD else list(ACCELERATORS)
        if self.cluster is not ClusterChoice.EKS:
            return candidates[0]
        from components.clouds.aws.facts.regions import regions as all_regions
        from components.clouds.aws.facts.regions import regions_of

        offering = {name: regions_of(name) or frozenset() for name in candidates}
        for name, regions in offering.items():
            if self.region in regions:
                return name
        offered = sorted(frozenset().union(*offering.values()))
        near = "" if self.region in all_regions() else did_you_mean(self.region, offered)
        raise WorkbenchError(
            f"--region: no region {printable(self.region)!r} is known to offer {' or '.join(candidates)}, the "
            f"instance types of the first model{near or f'; choose one of {some_of(offered)}'}",
            2,
        )


def project_name(folder: str) -> str:
    """Return a name that both Pulumi and EKS accept, from that of a folder."""
    name = _NOT_IN_NAMES.sub("-", folder)[:_NAME_LENGTH].strip("-_")
    # YAML reads null and yes as other than text.
    usable = name[:1].isalpha() and yaml.safe_load(name) == name
    return name if usable else f"models-{name}".rstrip("-")
