"""Words of the options about AWS."""

from enum import StrEnum


class OwnedPart(StrEnum):
    """What a stack can be told to own of an existing cluster."""

    NODE_GROUPS = "node-groups"
    CLUSTER = "cluster"
    NETWORK = "network"
