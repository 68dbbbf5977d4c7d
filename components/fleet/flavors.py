"""A flavor: a kind of accelerator node, which models claim, or for which programs create nodes."""

from ..contract.base import ApiModel
from ..contract.schema.embedded import Quantity


class Flavor(ApiModel):
    """A kind of accelerator node that can serve the model."""

    name: str
    """Name of the flavor; a resource that claims the model can select it."""
    limits: dict[str, Quantity] | None = None
    """Accelerators of one pod, such as nvidia.com/gpu: 4, as numbers or strings."""
    node_selector: dict[str, str] | None = None
    """Labels of the nodes, in addition to their instance type."""
    params: dict[str, str] | None = None
    """INSTANCE-TYPE names the EC2 instance type; TP and PP set how a replica is spread over accelerators and
    nodes."""
