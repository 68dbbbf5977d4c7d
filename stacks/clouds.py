"""The clouds of the setting ``cloud``."""

from components.contract.words import Word


class CloudName(Word):
    """Cloud of the cluster."""

    NONE = "none"
    """The cluster of the kubeconfig, with its nodes."""
    AWS = "aws"
    """A new or existing cluster on AWS."""
