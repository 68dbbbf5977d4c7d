"""Network access to the API server of a cluster, and the kubeconfig for it.

The security group that EKS creates protects the private endpoint and admits only its own members, which are the nodes
(EKS user guide, "View Amazon EKS security group requirements for clusters"). Other clients in the VPC or in connected
networks need a rule for port 443 ("Cluster API server endpoint", under "Accessing a private only API server"). The
ranges that EKS rejects are listed under "CIDR blocks in the public endpoint (IPv4 cluster)".
"""

import ipaddress
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

HTTPS = 443
TUNNEL_PORT = 8443
_WIDEST = 8
"""Prefix length of the widest range that one organization has: the legacy /8 assignments of IANA."""
SSM_ENDPOINTS = ("ssm", "ssmmessages")
"""Interface endpoints that the Session Manager agent needs in a network without internet access (Systems Manager user
guide, "Reference: ec2messages, ssmmessages, and other API operations"; agents need no ec2messages since 3.3.40.0)."""
_REQUIRED = (
    "is empty, so the API server would admit only the nodes and no client could connect; choose one of: "
    "(1) public_access_cidrs with the range that you connect from, permanently or until you connect from the network "
    "and have set private_access_cidrs; (2) a VPC that exists and in which you run Pulumi, with private_access_cidrs "
    "or private_access_security_groups; (3) bastion: true, without a tunnel_port of 0"
)


def endpoint_access_problems(
    public: Sequence[str], private: Sequence[str], groups: Mapping[str, object], *, tunnel: bool
) -> Iterator[tuple[str, str]]:
    """Report invalid ranges and security groups, by argument, and an API server without any access.

    Args:
        public: Ranges that may use the public endpoint.
        private: Ranges that may use the private endpoint.
        groups: Security groups that may use the private endpoint, by any name.
        tunnel: Whether provider and kubeconfig connect through a bastion.
    """
    for key, ranges in (("public_access_cidrs", public), ("private_access_cidrs", private)):
        for cidr in dict.fromkeys(ranges):
            try:
                version = ipaddress.ip_network(cidr).version
            except ValueError:
                yield key, f"must be ranges whose host bits are zero, such as 203.0.113.0/24, found {cidr!r}"
                continue
            if version == 6 and ranges is public:
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
        yield "public_access_cidrs", _REQUIRED


def open_ranges(public: Sequence[str]) -> str:
    """Return the ranges that open the public endpoint to the internet; empty if none does.

    Together, adjacent ranges may be one that is wider than each of them.
    """
    known = []
    for cidr in public:
        try:
            known.append(ipaddress.IPv4Network(cidr))
        except ValueError:
            continue
    wide = [network for network in ipaddress.collapse_addresses(known) if network.prefixlen < _WIDEST]
    return ", ".join(map(str, wide))


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
    """Return a kubeconfig as JSON that gets its tokens from the AWS CLI.

    Args:
        name: Name of the cluster, in AWS and in the file.
        endpoint: URL of the API server.
        certificate_authority: Its CA certificate in base64.
        region: AWS region of the cluster.
        profile: AWS CLI profile that requests the token.
        role_arn: Role to assume for the token; empty for that of the profile.
        tunnel_port: Local port of a tunnel to the API server; 0 for a direct connection.
    """
    get_token = ["eks", "get-token", "--cluster-name", name, *(["--role-arn", role_arn] if role_arn else [])]
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": [*_aws(region, profile), *get_token, "--output", "json"],
        "interactiveMode": "Never",
    }
    server = {"server": endpoint}
    if tunnel_port:
        # The certificate is valid for the host name of the endpoint, not for localhost.
        server = {"server": f"https://localhost:{tunnel_port}", "tls-server-name": _host(endpoint)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {**server, "certificate-authority-data": certificate_authority}}],
        "users": [{"name": name, "user": {"exec": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(config, indent=1)


def tunnel_command(instance_id: str, endpoint: str, port: int, region: str, profile: str = "") -> str:
    """Return the command that forwards a local port through an instance to the API server.

    Args:
        instance_id: Instance with the Session Manager agent.
        endpoint: URL of the API server.
        port: Local port.
        region: AWS region of the cluster.
        profile: AWS CLI profile.
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
