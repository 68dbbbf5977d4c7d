"""Where the arguments of AWS components go: into the settings that validate them, but for what a program alone knows.

A stack decides the rest itself, such as names and roles: these arguments are the components' own.
"""

from ..serving.mapped_arguments import ArgumentMap, Changed, Own
from .cluster_settings import ClusterSettings
from .network_settings import FlowLogSettings, NetworkSettings
from .node_settings import NodeSettings, TypeSettings
from .parts.pool_settings import DisruptionSettings
from .storage.settings import StorageSettings

_MANIFESTS = Own(
    "pulumi.Input[list[dict[str, Any]]]",
    "Instead of flavors, the models that the nodes are for, each an object in wire form.",
)
_REALIZATION = Own("str", "How the models are deployed: native or operator. Default: native.")
_REALIZATIONS = Own(
    "dict[str, str]", "Families whose models are deployed otherwise, by name, as in ModelFleet. Default: none."
)
_WORKLOAD = Own("str", "auto, lws or deployment, as the models are deployed. Default: auto.")
_RUNTIMES = Own(
    "str", "Edition of the shipped runtimes, as the models are deployed: upstream or current. Default: upstream."
)
_SERVICE_LEVELS = Own(
    "ServiceLevelsArgs", "What the models promise and what is asked of them, as in ModelFleet. Default: nothing."
)
_CLUSTER_NAME = Own("pulumi.Input[str]", "Name of the EKS cluster.", required=True)
_REGION = Own("str", "AWS region, such as us-east-1.", required=True)
_VPC_ID = Own("pulumi.Input[str]", "The cluster's VPC; for the security group of EFA.", required=True)
_SUBNETS = Own("dict[str, pulumi.Input[str]]", "Private subnet per availability zone.", required=True)
_TAGS = Own("dict[str, str]", "Tags of everything.")
_PLAIN_CLUSTER_NAME = Own("str", "Name of the EKS cluster.", required=True)
_ROLE_ARN = Own(
    "pulumi.Input[str]", "Role of its service account, for a cluster without Pod Identity: in Identities.role_arns."
)
_VALUES = Own(
    "dict[str, pulumi.Input[Any]]", "Values of the chart, which override those set here; leaves may be outputs."
)

_HERE = "A stack has other resources around it, and other words for them."
_HANDED_OVER = "A program hands over the subnets."
_NO_POOL = "There is no general pool here."
_PREFIXES = Changed(
    "Whether the cluster exists is not known here.",
    doc="Whether the cluster's network plugin hands out prefixes (ENABLE_PREFIX_DELEGATION), as that of Cluster "
    "does. Otherwise a node takes only the pods that its network interfaces have addresses for. Default: true.",
)
_TAINTS = Changed(
    "A stack makes the models' pods tolerate them.",
    doc="Taints for every node, beside those for accelerators. The models' pods must tolerate them: hand them to "
    "ModelFleet as tolerations.",
)


GPU_NODE_GROUPS = ArgumentMap(
    "GpuNodeGroupsArgs",
    NodeSettings,
    doc="Arguments of GpuNodeGroups: the nodes, as flavors or as manifests, and the cluster.",
    own={
        "flavors": Own(
            "list[FlavorArgs]",
            "Flavors in order of preference.",
        ),
        "manifests": _MANIFESTS,
        "realization": _REALIZATION,
        "realizations": _REALIZATIONS,
        "workload": _WORKLOAD,
        "runtimes": _RUNTIMES,
        "service_levels": _SERVICE_LEVELS,
        "cluster_name": _CLUSTER_NAME,
        "cluster_plain_name": Own(
            "str",
            "The same name as a plain string, which must be known before the cluster exists: it is part of tag keys.",
            required=True,
        ),
        "region": _REGION,
        "version": Own(
            "str",
            "Kubernetes version of the nodes, such as 1.35.",
            required=True,
        ),
        "vpc_id": _VPC_ID,
        "subnets": _SUBNETS,
        "node_role_arn": Own(
            "pulumi.Input[str]",
            "Role of the nodes.",
            required=True,
        ),
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "The cluster's own security group, which nodes with EFA need explicitly.",
            required=True,
        ),
        "endpoint": Own(
            "pulumi.Input[str]",
            "URL of the API server; required with an image of your own.",
        ),
        "certificate_authority": Own(
            "pulumi.Input[str]",
            "The API server's CA in base64; required with an image of your own.",
        ),
        "service_cidr": Own(
            "str",
            "CIDR range of Services, for groups with an image of your own. Default: 172.20.0.0/16.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for all resources, including instances and volumes.",
        ),
    },
    without={
        "provisioner": "the component itself is the choice",
        "disruption": "only Karpenter takes nodes away by itself",
        "general_pool": "only Karpenter has pools",
    },
    changed={
        "ami_release": Changed(
            _HERE,
            doc="Release of the images, such as 1.35.6-20260714, or latest: the newest when a group is created or "
            "changed. Default: the one that this package pins for the version.",
        ),
        "prefix_delegation": _PREFIXES,
        "scale_to_zero": Changed(
            _HERE,
            doc="Whether groups scale to zero. Otherwise every preferred group keeps one node. Default: true.",
        ),
        "zones": Changed(
            _HANDED_OVER,
            doc="Availability zones, each with a subnet, of the nodes whose type names no others. Default: all that "
            "have a subnet: a subnet added later then replaces the groups. Name zones to avoid that.",
        ),
        "node_repair": Changed(
            _HERE,
            doc="Whether EKS replaces nodes with broken GPUs; requires the add-on eks-node-monitoring-agent. "
            "Default: false.",
        ),
        "labels": Changed(_NO_POOL, doc="Labels for every node."),
        "taints": _TAINTS,
    },
)

KARPENTER_POOLS = ArgumentMap(
    "KarpenterPoolsArgs",
    NodeSettings,
    doc="Arguments of KarpenterPools: the nodes, as flavors or as manifests, and the cluster.",
    own={
        "flavors": Own(
            "list[FlavorArgs]",
            "Flavors in order of preference: the first has the highest weight.",
        ),
        "manifests": _MANIFESTS,
        "realization": _REALIZATION,
        "realizations": _REALIZATIONS,
        "workload": _WORKLOAD,
        "runtimes": _RUNTIMES,
        "service_levels": _SERVICE_LEVELS,
        "region": _REGION,
        "vpc_id": _VPC_ID,
        "subnets": _SUBNETS,
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "The cluster's own security group.",
            required=True,
        ),
        "node_role_name": Own(
            "pulumi.Input[str]",
            "Role of the nodes: KarpenterAccess.node_role_name.",
            required=True,
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for instances, volumes and network interfaces.",
        ),
    },
    without={
        "provisioner": "the component itself is the choice",
        "force_update": "Karpenter replaces nodes by its own rules",
        "node_repair": "a feature of Karpenter, which its chart is told",
    },
    changed={
        "ami_release": Changed(
            _HERE,
            doc="Release of the images, such as v20260714, or latest: with it, each new image replaces running "
            "nodes. Default: the one that this package pins.",
        ),
        "prefix_delegation": _PREFIXES,
        "scale_to_zero": Changed(
            _HERE,
            doc="Whether pools scale to zero. Otherwise one node is always there for every preferred group, for "
            "which Karpenter needs its feature staticCapacity. Default: true.",
        ),
        "zones": Changed(
            _HANDED_OVER,
            doc="Availability zones, each with a subnet, of the nodes whose type names no others. Default: all that "
            "have a subnet.",
        ),
        "taints": _TAINTS,
    },
)

CLUSTER = ArgumentMap(
    "ClusterArgs",
    ClusterSettings,
    doc="Arguments of a Cluster.",
    own={
        "region": _REGION,
        "cluster_name": Own(
            "str",
            "Name of the cluster. Default: the component's name.",
        ),
        "subnet_ids": Own(
            "pulumi.Input[list[str]]",
            "Private subnets in at least two zones, for the control plane. They count when the cluster is "
            "created: EKS takes no other zones afterwards. Required unless existing.",
        ),
        "system_subnet_ids": Own(
            "pulumi.Input[list[str]]",
            "Private subnets of the system nodes; others replace the nodes. Default: subnet_ids.",
        ),
        "profile": Own(
            "str",
            "Profile of the AWS CLI with which the kubeconfig gets its tokens. Default: none; the environment"
            " decides.",
        ),
        "assume_role_arn": Own(
            "str",
            "IAM role that the kubeconfig takes to get its tokens. Default: none.",
        ),
        "image": Own(
            "str",
            "Image of the system nodes: al2023 or bottlerocket. Default: al2023.",
        ),
        "ipv6_egress": Own(
            "bool",
            "Whether pods reach the internet by IPv6 through their node; the subnets must have IPv6. Default: false.",
        ),
        "protect": Own(
            "bool",
            "Whether Pulumi protects the cluster and its key from deletion. Default: false.",
        ),
        "tags": _TAGS,
    },
    without={
        "zones": "those of subnet_ids",
        "system_zones": "those of system_subnet_ids",
        "oidc_provider_arn": "an argument of Identities",
        "spot_service_linked_role": "create_spot_role of KarpenterAccess",
    },
    changed={
        "existing": Changed(
            _HERE,
            doc="Use the existing cluster with this name unchanged; of the other arguments only node_role_arn, "
            "node_policies and those of the kubeconfig (tunnel_port, profile, assume_role_arn) are used then. "
            "Default: false.",
        ),
        "version": Changed(
            "A stack has a usual version.", doc="Kubernetes version, such as 1.35. Required unless existing."
        ),
        "private_access_security_groups": Changed("Groups may be outputs.", "dict[str, pulumi.Input[str]]"),
        "system_ami_release": Changed(
            _HERE,
            doc="Release of their image, such as 1.35.6-20260714, or latest: the newest when they are created or "
            "changed. Default: the one that this package pins for the version.",
        ),
    },
)

NETWORK = ArgumentMap(
    "NetworkArgs",
    NetworkSettings,
    doc="Arguments of a Network. All are plain: they decide which resources there are.",
    own={
        "cluster_name": Own(
            "str",
            "Name of the EKS cluster, for resource names and the tags by which controllers find subnets.",
            required=True,
        ),
        "region": _REGION,
        "control_plane_zones": Own(
            "list[str]",
            "Those of the zones, two at least, in which the control plane has its subnets: as they were when "
            "the cluster was created, for EKS takes no others afterwards. With them, zones can be added, "
            "removed and listed in any order. Default: all.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for everything that is created.",
        ),
        "protect": Own(
            "bool",
            "Whether Pulumi protects a VPC that is created here from deletion. Default: as in the options of "
            "the component.",
        ),
    },
    changed={
        "zones": Changed(
            "A stack says it of its cluster.",
            doc="Availability zones, two to seven. Without control_plane_zones the position of a zone determines the "
            "addresses of its subnets, and the control plane has all zones: then do not change the list.",
        ),
        "vpc_id": Changed(
            _HERE,
            doc="An existing VPC. Only interface endpoints are created in it, and nothing in it is tagged.",
        ),
        "ipv6": Changed(
            _HERE,
            doc="Whether a new VPC also has IPv6: nodes reach the internet without a NAT gateway, as do pods if the "
            "Cluster has ipv6_egress. The cluster itself stays IPv4. Default: false.",
        ),
        "cidr": Changed(
            _HERE,
            doc="IPv4 range of the VPC, /16 to /21. For an existing VPC: its range, required only with interface "
            "endpoints. Default: 10.0.0.0/16.",
        ),
    },
)

MODEL_STORAGE = ArgumentMap(
    "ModelStorageArgs",
    StorageSettings,
    doc="Arguments of a ModelStorage. What decides which resources there are is plain.",
    own={
        "cluster_name": _PLAIN_CLUSTER_NAME,
        "region": _REGION,
        "namespaces": Own(
            "list[str]",
            "Namespaces of the models; each gets a volume of its own. Their claims are made with the models.",
            required=True,
        ),
        "vpc_id": Own(
            "pulumi.Input[str]",
            "The cluster's VPC; required for a new file system.",
        ),
        "subnets": Own(
            "dict[str, pulumi.Input[str]]",
            "Private subnet per availability zone of the nodes; required for a new file system.",
        ),
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "The cluster's own security group, whose members may mount a new file system: Cluster.security_group_id.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for all resources.",
        ),
    },
    changed={
        "efs": Changed(_HERE, doc="An EFS file system as the cache; {} creates one."),
        "fsx": Changed(_HERE, doc="Instead of EFS, an FSx for Lustre file system as the cache, in one zone."),
        "s3": Changed(
            _HERE,
            doc="Buckets to read from, by name of the claim: each a bucket or bucket/prefix/ in the region. Pods "
            "mount them with the rights of their own service account (see Identities, model_buckets).",
        ),
    },
)

BASTION = ArgumentMap(
    "BastionArgs",
    doc="Arguments of a Bastion.",
    own={
        "region": _REGION,
        "vpc_id": Own(
            "pulumi.Input[str]",
            "The cluster's VPC.",
            required=True,
        ),
        "subnet_id": Own(
            "pulumi.Input[str]",
            "A private subnet of it, from which Session Manager can be reached: through a NAT gateway, or the"
            " endpoints ssm and ssmmessages.",
            required=True,
        ),
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "Security group of the API server: Cluster.security_group_id.",
            required=True,
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags of everything, the instance and its volume included.",
        ),
    },
)

GATEWAY_RECORD = ArgumentMap(
    "GatewayRecordArgs",
    doc="Arguments of GatewayRecord.",
    own={
        "host": Own(
            "str",
            "DNS name of the gateway.",
            required=True,
        ),
        "hosted_zone_id": Own(
            "str",
            "Route 53 hosted zone that the name belongs to, public or private.",
            required=True,
        ),
        "region": Own(
            "str",
            "AWS region of the load balancer.",
            required=True,
        ),
        "address": Own(
            "pulumi.Input[str]",
            "DNS name of the gateway's Network Load Balancer: addresses[0].value in the status of the Gateway.",
            required=True,
        ),
    },
)

KARPENTER_ACCESS = ArgumentMap(
    "KarpenterAccessArgs",
    doc="Arguments of KarpenterAccess.",
    own={
        "cluster_name": _CLUSTER_NAME,
        "cluster_plain_name": Own(
            "str",
            "The same name as a plain string, which must be known before the cluster exists: the queue is "
            "named after it.",
            required=True,
        ),
        "region": _REGION,
        "node_policies": Own(
            "list[str]",
            "Further policies of the nodes: names of AWS's, or ARNs. Default: AmazonSSMManagedInstanceCore.",
        ),
        "create_spot_role": Own(
            "bool",
            "Whether to create AWSServiceRoleForEC2Spot, without which an account gets no Spot Instances; it "
            "is never deleted. AWS refuses a second one: leave it out where the account has it. Default: "
            "false.",
        ),
        "tags": _TAGS,
    },
)

IDENTITIES = ArgumentMap(
    "IdentitiesArgs",
    doc="Arguments of Identities. What decides which resources there are is plain.",
    own={
        "cluster_name": Own(
            "pulumi.Input[str]",
            "Name of the EKS cluster; pass an output of the cluster, so that the associations wait for it.",
            required=True,
        ),
        "cluster_plain_name": Own(
            "str",
            "The same name as a plain string, which must be known before the cluster exists: it is part of "
            "role names and policies.",
            required=True,
        ),
        "region": Own(
            "str",
            "AWS region of the cluster.",
            required=True,
        ),
        "controllers": Own(
            "list[str]",
            "Controllers that get a role: cluster-autoscaler, karpenter, load-balancer-controller, ebs-csi, "
            "efs-csi, each with its usual service account in kube-system, and cert-manager with that in "
            "cert-manager. Omit drivers that a Cluster installs as add-ons; those have their own role. "
            "Default: none.",
        ),
        "model_buckets": Own(
            "list[str]",
            "Where models are stored, as bucket or bucket/prefix. Prefixes are plain S3 prefixes: end one "
            "with / to name a folder.",
        ),
        "model_service_accounts": Own(
            "list[str]",
            "Service accounts that may read the models, as namespace/name.",
        ),
        "node_role_arn": Own(
            "pulumi.Input[str]",
            "Role of the nodes that Karpenter creates; required with karpenter.",
        ),
        "interruption_queue_arn": Own(
            "pulumi.Input[str]",
            "SQS queue of interruption notices for Karpenter; required with karpenter.",
        ),
        "hosted_zone_id": Own(
            "str",
            "Route 53 hosted zone in which cert-manager answers DNS-01 challenges; required with cert-manager.",
        ),
        "host": Own(
            "str",
            "DNS name that cert-manager gets certificates for; required with cert-manager.",
        ),
        "oidc_provider_arn": Own(
            "str",
            "IAM OIDC provider of a cluster without the Pod Identity agent. The service accounts must then "
            "name their roles in the annotation eks.amazonaws.com/role-arn: pass role_arns on to a "
            "ModelFleet. Default: none, Pod Identity.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for every role and association.",
        ),
    },
)

IMAGE_CACHE = ArgumentMap(
    "ImageCacheArgs",
    doc="Arguments of ImageCache. What decides which resources there are is plain.",
    own={
        "account": Own(
            "str",
            "ID of the account whose registry caches images.",
            required=True,
        ),
        "region": _REGION,
        "registries": Own(
            "list[str]",
            "Registries to cache: docker.io, ghcr.io, quay.io, registry.k8s.io, public.ecr.aws, "
            "registry.gitlab.com, cgr.dev or <name>.azurecr.io.",
            required=True,
        ),
        "credentials": Own(
            "dict[str, str]",
            "ARN of the secret in Secrets Manager with the account at each registry that requires one: "
            "docker.io, ghcr.io, registry.gitlab.com, cgr.dev and <name>.azurecr.io. Its name begins with "
            "ecr-pullthroughcache/.",
        ),
        "prefix": Own(
            "str",
            "What the names of all cached repositories begin with. Default: nothing.",
        ),
        "existing": Own(
            "bool",
            "Whether the rules are there already; only the nodes get their rights then. Default: false.",
        ),
        "kms_key_arn": Own(
            "str",
            "KMS key of the cached repositories. Default: keys of S3 (AES-256).",
        ),
        "keep_images": Own(
            "int",
            "How many images are kept of each repository, the newest first. Default: all.",
        ),
        "node_roles": Own(
            "dict[str, pulumi.Input[str]]",
            "Names of the IAM roles of nodes that pull by way of the cache, by a name of your choice.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags of the role and of every cached repository.",
        ),
    },
)

CLUSTER_AUTOSCALER = ArgumentMap(
    "ClusterAutoscalerArgs",
    doc="Arguments of ClusterAutoscaler.",
    own={
        "cluster_name": Own(
            "str",
            "Name of the EKS cluster; the autoscaler finds its groups by tags that contain it.",
            required=True,
        ),
        "region": _REGION,
        "role_arn": _ROLE_ARN,
        "bounds": Own(
            "pulumi.Input[list[Any]]",
            "Sizes that the autoscaler keeps, and which groups it tries first: GpuNodeGroups.bounds, "
            "Cluster.bounds. Default: the sizes of the Auto Scaling groups, and the group that leaves the "
            "least unused.",
        ),
        "bounded_only": Own(
            "bool",
            "Whether groups that bounds do not list are left alone. Otherwise those with the tags are scaled "
            "within the sizes of their Auto Scaling group, which are 0 to 450. Default: false.",
        ),
        "values": _VALUES,
    },
)

KARPENTER = ArgumentMap(
    "KarpenterArgs",
    doc="Arguments of Karpenter.",
    own={
        "cluster_name": _PLAIN_CLUSTER_NAME,
        "interruption_queue": Own(
            "pulumi.Input[str]",
            "Name of the queue of interruption notices: KarpenterAccess.queue_name.",
            required=True,
        ),
        "features": Own(
            "list[str]",
            "Features that are off otherwise: nodeRepair, spotToSpotConsolidation, staticCapacity. Default: none.",
        ),
        "role_arn": _ROLE_ARN,
        "values": _VALUES,
    },
)

LOAD_BALANCER_CONTROLLER = ArgumentMap(
    "LoadBalancerControllerArgs",
    doc="Arguments of LoadBalancerController.",
    own={
        "cluster_name": _PLAIN_CLUSTER_NAME,
        "region": Own(
            "str",
            "AWS region; pods cannot read it from the instance metadata.",
            required=True,
        ),
        "vpc_id": Own(
            "pulumi.Input[str]",
            "The cluster's VPC, for the same reason.",
            required=True,
        ),
        "role_arn": _ROLE_ARN,
        "values": _VALUES,
    },
)

MAPS = (
    GPU_NODE_GROUPS,
    KARPENTER_POOLS,
    CLUSTER,
    NETWORK,
    MODEL_STORAGE,
    BASTION,
    GATEWAY_RECORD,
    KARPENTER_ACCESS,
    IDENTITIES,
    IMAGE_CACHE,
    CLUSTER_AUTOSCALER,
    KARPENTER,
    LOAD_BALANCER_CONTROLLER,
    ArgumentMap(
        "NodeTypeArgs",
        TypeSettings,
        changed={
            "capacity": Changed(
                _HERE,
                doc="on-demand, spot, odcr (an On-Demand Capacity Reservation) or capacity-block. Default: that of "
                "all nodes.",
            ),
            "zones": Changed(_HERE, doc="Availability zones of the nodes. Default: those of all nodes."),
            "max_nodes": Changed(
                "Flavors have no models whose replicas are counted.",
                doc="Maximum size of a group, which caps its cost, and which the autoscaler keeps. Default: none for "
                "models, whose replicas are the bound; 10 for flavors.",
            ),
        },
    ),
    ArgumentMap(
        "DisruptionArgs",
        DisruptionSettings,
        changed={
            "spot_to_spot": Changed(
                "A stack turns the feature on itself.",
                doc="Whether it replaces spot nodes by cheaper spot nodes; requires its feature "
                "spotToSpotConsolidation. Karpenter asks for at least 15 instance types to choose from. "
                "Default: false.",
            )
        },
    ),
    ArgumentMap(
        "FlowLogsArgs",
        FlowLogSettings,
        changed={
            "traffic": Changed(
                "A stack has a usual choice.",
                doc="Which connections are recorded: rejected, accepted or all.",
                required=True,
            )
        },
    ),
)
