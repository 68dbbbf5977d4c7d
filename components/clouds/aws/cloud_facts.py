"""Facts about AWS that the fleet uses."""

from ...fleet.cloud_facts import CloudFacts
from .instances import GeneralTypes, accelerated_types
from .load_balancers import NETWORK_LOAD_BALANCERS
from .names import CAPACITY_LABELS, EFA_RESOURCE, LABEL_DOMAINS, NEURON_PARTS, POD_IDENTITY_AGENT, karpenter_type


def cloud_facts() -> CloudFacts:
    """Return what the fleet has to know of AWS."""
    return CloudFacts(
        instances=tuple(accelerated_types()),
        general=GeneralTypes(),
        fabrics={EFA_RESOURCE: "EFA"},
        accelerators=NEURON_PARTS,
        label_domains=LABEL_DOMAINS,
        capacity_labels=CAPACITY_LABELS,
        named_type=karpenter_type,
        load_balancers=NETWORK_LOAD_BALANCERS,
        credential_agents=(POD_IDENTITY_AGENT,),
    )
