"""The kubeconfig of an EKS cluster: it asks AWS for a token each time and holds none."""

import json


def kubeconfig(name: str, endpoint: str, certificate_authority: str, region: str) -> str:
    """Return a kubeconfig as JSON, for whoever has the AWS CLI and may use the cluster.

    Args:
        name: Name of the cluster, in AWS and in the file.
        endpoint: URL of the API server.
        certificate_authority: Its CA certificate in base64.
        region: AWS region of the cluster.
    """
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
        "interactiveMode": "Never",
    }
    server = {"server": endpoint, "certificate-authority-data": certificate_authority}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": name, "user": {"exec": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(config, indent=1)
