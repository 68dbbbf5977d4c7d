"""The floor: the very same objects, registered one after the other without components, settings or checks."""

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes

from components.serving.objects import kubernetes_object

config = pulumi.Config("flat")
provider = pulumi_kubernetes.Provider("cluster", kubeconfig=config.require("kubeconfig"), cluster_identifier="bench")
options = pulumi.ResourceOptions(provider=provider)
for value in json.loads(Path(config.require("objects")).read_text()):
    metadata = value["metadata"]
    kubernetes_object(value, f"{value['kind']}-{metadata['name']}".lower(), options)
