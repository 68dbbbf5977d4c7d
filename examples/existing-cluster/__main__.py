"""Every model in the folder models, on the cluster of a kubeconfig."""

import pulumi
import pulumi_kubernetes
from inference_platform import ModelFleet

cluster = pulumi_kubernetes.Provider("cluster", kubeconfig="kubeconfig", cluster_identifier="prod")
options = pulumi.ResourceOptions(providers=[cluster])
fleet = ModelFleet("models", {"files": ["models"], "prerequisites": {"install": True}}, options)
pulumi.export("endpoints", fleet.endpoints)
