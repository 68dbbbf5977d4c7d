"""The floor: the very same objects, registered one after the other without components, settings or checks.

``flat:classes`` chooses how: ``sdk`` with the classes of pulumi_kubernetes, as in most programs, or ``thin``
with the class that this project's components use.
"""

import json
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import Namespace, Service

from components.resources.serving.objects import kubernetes_object

_CLASSES: dict[str, Any] = {"Deployment": Deployment, "Service": Service}
config = pulumi.Config("flat")
thin = config.require("classes") == "thin"
provider = pulumi_kubernetes.Provider("cluster", kubeconfig=config.require("kubeconfig"), cluster_identifier="bench")
namespace, *objects = json.loads(Path(config.require("objects")).read_text())
home = Namespace("namespace", metadata=namespace["metadata"], opts=pulumi.ResourceOptions(provider=provider))
for value in objects:
    name = f"{value['kind']}-{value['metadata']['name']}".lower()
    options = pulumi.ResourceOptions(provider=provider, depends_on=[home])
    if thin:
        kubernetes_object(value, name, options)
    else:
        _CLASSES[value["kind"]](name, metadata=value["metadata"], spec=value["spec"], opts=options)
