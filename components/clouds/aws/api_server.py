"""Who reaches the API server of a cluster.

The security group that EKS makes guards the private endpoint, and lets in itself alone, which is the nodes (EKS's
user guide, "View Amazon EKS security group requirements for clusters"). Everybody else in the network, or connected
with it, needs a rule for port 443 ("Cluster API server endpoint", under "Accessing a private only API server"; under
"CIDR blocks in the public endpoint (IPv4 cluster)", which ranges EKS refuses).
"""

import ipaddress
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HTTPS = 443
TUNNEL_PORT = 8443
SSM_ENDPOINTS = ("ssm", "ssmmessages")
"""Services by which the agent of Session Manager reaches it, where there is no other way out (Systems Manager's user
guide, "Reference: ec2messages, ssmmessages, and other API operations"; agents need no ec2messages since 3.3.40.0)."""
_THREE_WAYS = (
    "is empty, and nobody could reach the API server, whose security group lets in the nodes alone; choose one of: "
    "(1) public_access_cidrs with the range that you connect from, for good or until you are in the network and have "
    "set private_access_cidrs; (2) a VPC that exists and in which you run Pulumi, with private_access_cidrs or "
    "private_access_security_groups; (3) bastion: true, without a tunnel_port of 0"
)


def endpoint_access_problems(
    public: Sequence[str], private: Sequence[str], groups: Mapping[str, object], *, tunnel: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the ways to the API server, by argument; that there is none among them.

    Args:
        public: Ranges that reach it over the internet.
        private: Ranges that reach it inside the network.
        groups: Security groups that reach it, by any name.
        tunnel: Whether provider and kubeconfig go through a bastion.
    """
    for key, ranges in (("public_access_cidrs", public), ("private_access_cidrs", private)):
        for cidr in dict.fromkeys(ranges):
            version = _version(cidr)
            if version is None:
                yield key, f"must be ranges whose host bits are zero, such as 203.0.113.0/24, found {cidr!r}"
            elif version == 6 and ranges is public:
                yield key, f"must be IPv4 ranges: the public endpoint of an IPv4 cluster has no IPv6, found {cidr!r}"
            elif list(ranges).count(cidr) > 1:
                yield key, f"{cidr!r} is listed {list(ranges).count(cidr)} times; list it once"
    for name, group in groups.items():
        if isinstance(group, str) and not group.startswith("sg-"):
            yield (
                f"private_access_security_groups[{name}]",
                f"must be the ID of a security group (sg-...), found {group!r}",
            )
    if not (public or private or groups or tunnel):
        yield "public_access_cidrs", _THREE_WAYS


def _version(cidr: str) -> int | None:
    try:
        return ipaddress.ip_network(cidr).version
    except ValueError:
        return None


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
