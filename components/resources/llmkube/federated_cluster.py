"""LLMKube's FederatedCluster: a cluster that reports to this one.

FederatedCluster
└── FederatedCluster   <name>
"""

import pulumi

from .args import FederatedClusterArgs
from .argument_maps import FEDERATED_CLUSTER
from .operated_object import OperatedObject


class FederatedCluster(OperatedObject):
    """Declares a cluster whose operator reports to this one.

    Needs LLMKube's operator of release v0.9.11 or later. The object is created as it is written.
    """

    def __init__(self, name: str, args: FederatedClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        self.create(name, "federation.llmkube.dev/v1alpha1", FEDERATED_CLUSTER, FederatedClusterArgs, args, opts)
        self.register_outputs({"manifest": self.manifest})
