"""The clouds that a stack can make a cluster on, as its settings name them."""

from components.contract.words import Word


class CloudName(Word):
    """Where the cluster and its nodes come from."""

    NONE = "none"
    """Somebody else: they are there."""
    AWS = "aws"
    """This program, or what it is told of, in AWS."""
