"""A model of llmaz and the Playground that serves it, as components of a program."""

import pulumi
import pulumi_kubernetes
from inference_platform.families.llmaz import OpenModel, Playground

cluster = pulumi_kubernetes.Provider("cluster", kubeconfig="kubeconfig", cluster_identifier="prod")
options = pulumi.ResourceOptions(providers=[cluster])
model = OpenModel(
    "qwen2-7b",
    {
        "family_name": "qwen2",
        "model_id": "Qwen/Qwen2-7B-Instruct",
        "flavors": [{"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}],
    },
    options,
)
chat = Playground(
    "chat",
    {"model": model.manifest, "namespace": "models", "replicas": 2, "args": ["--max-model-len", "16384"]},
    options,
)
pulumi.export("endpoint", chat.endpoint)
