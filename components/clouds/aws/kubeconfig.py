"""The kubeconfig of an EKS cluster: it asks AWS for a token each time and holds none."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from .reach import HTTPS


def kubeconfig(
    name: str,
    endpoint: str,
    certificate_authority: str,
    region: str,
    *,
    profile: str = "",
    role_arn: str = "",
    tunnel_port: int = 0,
) -> str:
    """Return a kubeconfig as JSON, for whoever has the AWS CLI and may use the cluster.

    Args:
        name: Name of the cluster, in AWS and in the file.
        endpoint: URL of the API server.
        certificate_authority: Its CA certificate in base64.
        region: AWS region of the cluster.
        profile: Profile of the AWS CLI that asks for the token.
        role_arn: Role that it takes to do so.
        tunnel_port: Port of this machine that leads to the API server; 0 if it is reached directly.
    """
    asked = ["eks", "get-token", "--cluster-name", name, *(["--role-arn", role_arn] if role_arn else [])]
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": [*_aws(region, profile), *asked, "--output", "json"],
        "interactiveMode": "Never",
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": _server(endpoint, certificate_authority, tunnel_port)}],
        "users": [{"name": name, "user": {"exec": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(config, indent=1)


def _server(endpoint: str, certificate_authority: str, tunnel_port: int) -> Mapping[str, Any]:
    """Return where the API server is: at the end of a tunnel, its certificate still has its own name."""
    trusted = {"certificate-authority-data": certificate_authority}
    if not tunnel_port:
        return {"server": endpoint, **trusted}
    return {"server": f"https://localhost:{tunnel_port}", "tls-server-name": _host(endpoint), **trusted}


def tunnel_command(instance_id: str, endpoint: str, port: int, region: str, profile: str = "") -> str:
    """Return the command that leads a port of this machine through an instance to the API server.

    Args:
        instance_id: Instance with the agent of Session Manager.
        endpoint: URL of the API server.
        port: Port of this machine.
        region: AWS region of the cluster.
        profile: Profile of the AWS CLI.
    """
    parameters = {"host": [_host(endpoint)], "portNumber": [str(HTTPS)], "localPortNumber": [str(port)]}
    words = [
        *("aws", *_aws(region, profile), "ssm", "start-session", "--target", instance_id),
        *("--document-name", "AWS-StartPortForwardingSessionToRemoteHost", "--parameters", json.dumps(parameters)),
    ]
    return shlex.join(words)


def _aws(region: str, profile: str) -> list[str]:
    return ["--region", region, *(["--profile", profile] if profile else [])]


def _host(endpoint: str) -> str:
    return endpoint.removeprefix("https://").rstrip("/")
