"""A VPC, a cluster and what belongs to them, in plain pulumi_aws: each type that is known here at least once."""

import json

import pulumi
from pulumi_aws import cloudwatch, ec2, ecr, eks, iam, kms, sqs, vpc

from tests.clouds.aws.moto.nodes import nodes
from tests.clouds.aws.moto.storage import storage

REGION = "us-east-1"
CLUSTER = "main"


def trust(service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": ["sts:AssumeRole", "sts:TagSession"]}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def allow(*actions: str) -> str:
    statement = {
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:ResourceTag/cluster": CLUSTER}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": statement})


def everything() -> None:
    """Register all of it."""
    network, subnets = _network()
    cluster, node_role = _cluster(network, subnets)
    _access(cluster)
    nodes(network, subnets, cluster, node_role)
    storage(network, subnets)
    _interruptions()
    _cache()


def _network() -> tuple[ec2.Vpc, list[ec2.Subnet]]:
    network = ec2.Vpc(
        "main", cidr_block="10.0.0.0/16", enable_dns_hostnames=True, enable_dns_support=True, tags={"Name": "main"}
    )
    internet = ec2.InternetGateway("main", vpc_id=network.id, tags={"Name": "main"})
    subnets = [
        ec2.Subnet(
            f"private-{zone}",
            vpc_id=network.id,
            cidr_block=f"10.0.{index}.0/24",
            availability_zone=f"{REGION}{zone}",
            map_public_ip_on_launch=False,
            tags={"kubernetes.io/role/internal-elb": "1"},
        )
        for index, zone in enumerate("ab")
    ]
    address = ec2.Eip("nat", domain="vpc", tags={"Name": "nat"}, opts=pulumi.ResourceOptions(depends_on=[internet]))
    nat = ec2.NatGateway("nat", allocation_id=address.id, subnet_id=subnets[0].id, tags={"Name": "nat"})
    tables = [
        ec2.RouteTable(
            "inline",
            vpc_id=network.id,
            routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": internet.id}],
            tags={"Name": "inline"},
        ),
        ec2.RouteTable("private", vpc_id=network.id),
    ]
    ec2.Route("private", route_table_id=tables[1].id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id)
    for index, subnet in enumerate(subnets):
        ec2.RouteTableAssociation(f"private-{index}", subnet_id=subnet.id, route_table_id=tables[1].id)
    _endpoints(network, subnets, tables)
    _more(network)
    return network, subnets


def _more(network: ec2.Vpc) -> None:
    """A second range, a way out for IPv6, flow logs."""
    ec2.VpcIpv4CidrBlockAssociation("pods", vpc_id=network.id, cidr_block="100.64.0.0/16")
    ec2.EgressOnlyInternetGateway("main", vpc_id=network.id, tags={"Name": "main"})
    group = cloudwatch.LogGroup("flow", name="/aws/vpc/main/flow-logs", retention_in_days=30)
    role = iam.Role("flow", assume_role_policy=trust("vpc-flow-logs.amazonaws.com"))
    ec2.FlowLog(
        "flow",
        vpc_id=network.id,
        traffic_type="REJECT",
        log_destination=group.arn,
        iam_role_arn=role.arn,
        tags={"Name": "flow"},
    )


def _endpoints(network: ec2.Vpc, subnets: list[ec2.Subnet], tables: list[ec2.RouteTable]) -> None:
    group = ec2.SecurityGroup("endpoints", description="Interface endpoints", vpc_id=network.id, tags={"Name": "e"})
    vpc.SecurityGroupIngressRule(
        "endpoints",
        security_group_id=group.id,
        cidr_ipv4="10.0.0.0/16",
        ip_protocol="tcp",
        from_port=443,
        to_port=443,
        description="HTTPS",
    )
    vpc.SecurityGroupEgressRule("endpoints", security_group_id=group.id, cidr_ipv4="0.0.0.0/0", ip_protocol="-1")
    ec2.VpcEndpoint(
        "s3",
        vpc_id=network.id,
        service_name=f"com.amazonaws.{REGION}.s3",
        vpc_endpoint_type="Gateway",
        route_table_ids=[table.id for table in tables],
    )
    ec2.VpcEndpoint(
        "sts",
        vpc_id=network.id,
        service_name=f"com.amazonaws.{REGION}.sts",
        vpc_endpoint_type="Interface",
        subnet_ids=[subnet.id for subnet in subnets],
        security_group_ids=[group.id],
        private_dns_enabled=True,
    )


def _cluster(network: ec2.Vpc, subnets: list[ec2.Subnet]) -> tuple[eks.Cluster, iam.Role]:
    role, key, ready = _cluster_needs()
    cluster = eks.Cluster(
        "main",
        name=CLUSTER,
        role_arn=role.arn,
        version="1.35",
        vpc_config={
            "subnet_ids": [subnet.id for subnet in subnets],
            "endpoint_private_access": True,
            "endpoint_public_access": True,
            "public_access_cidrs": ["192.0.2.0/24"],
        },
        access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": False},
        encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
        enabled_cluster_log_types=["api", "audit", "authenticator"],
        upgrade_policy={"support_type": "STANDARD"},
        kubernetes_network_config={"service_ipv4_cidr": "172.20.0.0/16", "ip_family": "ipv4"},
        deletion_protection=False,
        bootstrap_self_managed_addons=False,
        zonal_shift_config={"enabled": True},
        tags={"Name": CLUSTER},
        opts=pulumi.ResourceOptions(depends_on=ready),
    )
    pulumi.export("endpoint", cluster.endpoint)
    pulumi.export("authority", cluster.certificate_authority.data)
    pulumi.export("issuer", cluster.identities[0].oidcs[0].issuer)
    pulumi.export("securityGroup", cluster.vpc_config.cluster_security_group_id)
    node_role = iam.Role("nodes", name="nodes", assume_role_policy=trust("ec2.amazonaws.com"), path="/eks/")
    iam.RolePolicyAttachment(
        "nodes", role=node_role.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    )
    return cluster, node_role


def _cluster_needs() -> tuple[iam.Role, kms.Key, list[pulumi.Resource]]:
    role = iam.Role("cluster", assume_role_policy=trust("eks.amazonaws.com"), tags={"Name": "cluster"})
    attached = iam.RolePolicyAttachment(
        "cluster", role=role.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    )
    key = kms.Key(
        "secrets",
        description="Secrets of the cluster",
        enable_key_rotation=True,
        rotation_period_in_days=180,
        deletion_window_in_days=7,
        tags={"Name": "secrets"},
    )
    kms.Alias("secrets", name=f"alias/{CLUSTER}-secrets", target_key_id=key.key_id)
    logs = cloudwatch.LogGroup(
        "cluster", name=f"/aws/eks/{CLUSTER}/cluster", retention_in_days=30, tags={"Name": "l"}
    )
    return role, key, [attached, logs]


def _access(cluster: eks.Cluster) -> None:
    role = iam.Role("people", assume_role_policy=trust("ec2.amazonaws.com"))
    entry = eks.AccessEntry(
        "people",
        cluster_name=cluster.name,
        principal_arn=role.arn,
        type="STANDARD",
        kubernetes_groups=["viewers"],
        tags={"Name": "people"},
    )
    eks.AccessPolicyAssociation(
        "people",
        cluster_name=cluster.name,
        principal_arn=entry.principal_arn,
        policy_arn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
        access_scope={"type": "namespace", "namespaces": ["default"]},
    )
    pods = iam.Role("pods", assume_role_policy=trust("pods.eks.amazonaws.com"))
    policy = iam.Policy("weights", policy=allow("s3:ListBucket", "s3:GetObject"), description="Read the weights")
    iam.RolePolicyAttachment("pods", role=pods.name, policy_arn=policy.arn)
    iam.RolePolicy("pods", role=pods.id, policy=allow("autoscaling:SetDesiredCapacity"))
    eks.PodIdentityAssociation(
        "pods", cluster_name=cluster.name, namespace="kube-system", service_account="autoscaler", role_arn=pods.arn
    )
    eks.Addon(
        "cni",
        cluster_name=cluster.name,
        addon_name="vpc-cni",
        addon_version="v1.20.4-eksbuild.1",
        configuration_values=json.dumps({"env": {"ENABLE_PREFIX_DELEGATION": "true"}}),
        pod_identity_associations=[{"role_arn": pods.arn, "service_account": "aws-node"}],
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="PRESERVE",
        tags={"Name": "cni"},
    )


def _interruptions() -> None:
    queue = sqs.Queue(
        "interruptions", message_retention_seconds=300, sqs_managed_sse_enabled=True, tags={"Name": "interruptions"}
    )
    sqs.QueuePolicy("interruptions", queue_url=queue.url, policy=queue.arn.apply(_may_send))
    rule = cloudwatch.EventRule(
        "interruptions",
        description="Spot interruptions",
        event_pattern=json.dumps({"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]}),
        tags={"Name": "interruptions"},
    )
    cloudwatch.EventTarget("interruptions", rule=rule.name, arn=queue.arn, target_id="queue")


def _may_send(queue: str) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
        "Action": "sqs:SendMessage",
        "Resource": queue,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _cache() -> None:
    ecr.RepositoryCreationTemplate(
        "quay",
        prefix="quay",
        description="Images of quay.io",
        applied_fors=["PULL_THROUGH_CACHE"],
        image_tag_mutability="MUTABLE",
        encryption_configurations=[{"encryption_type": "AES256"}],
    )
    ecr.PullThroughCacheRule("quay", ecr_repository_prefix="quay", upstream_registry_url="quay.io")
