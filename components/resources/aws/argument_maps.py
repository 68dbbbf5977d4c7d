"""Argument maps of the AWS components.

Most arguments are fields of the settings that validate them. What a stack decides itself, such as names and roles, a
program passes: these arguments belong to the component alone.
"""

from ..serving.argument_maps import INSTANCE_TYPES, SERVICE_LEVELS, VALUES
from ..serving.mapped_arguments import ArgumentMap, Changed, Own
from .cluster_settings import ClusterSettings, VersionSettings
from .network_settings import FlowLogSettings, NetworkSettings
from .node_settings import NodeSettings, TypeSettings
from .parts.pool_settings import DisruptionSettings
from .storage.settings import StorageSettings
from .timeout_settings import AwsTimeoutSettings

_MANIFESTS = Own(
    "pulumi.Input[list[dict[str, Any]]]",
    "Models to create nodes for, each a manifest in wire form. Cannot be combined with flavors.",
)
_REALIZATION = Own("str", "Realization of the models, as in ModelFleet: native or operator. Default: native.")
_REALIZATIONS = Own(
    "dict[str, str]", "Realization by family, overriding realization, as in ModelFleet. Default: no overrides."
)
_WORKLOAD = Own("str", "Workload kind of the models, as in ModelFleet: auto, lws or deployment. Default: auto.")
_RUNTIMES = Own("str", "Edition of the shipped runtimes, as in ModelFleet: upstream or current. Default: upstream.")
_CLUSTER_NAME = Own("pulumi.Input[str]", "Name of the EKS cluster.", required=True)
_REGION = Own("str", "AWS region, such as us-east-1.", required=True)
_VPC_ID = Own(
    "pulumi.Input[str]", "ID of the cluster's VPC, in which the EFA security group is created.", required=True
)
_SUBNETS = Own(
    "dict[str, pulumi.Input[str]]", "ID of the private subnet in each availability zone, by zone.", required=True
)
_TAGS = Own("dict[str, str]", "Tags for all resources.")
_BOUNDARY = Own(
    "str", "ARN of the IAM policy that is the permissions boundary of every role that is created. Default: none."
)
_TIMEOUTS = Own(
    "AwsTimeoutArgs",
    "How long an update waits for single resources before it fails. Default: computed, and never shorter than the "
    "defaults of the AWS provider.",
)
_PLAIN_CLUSTER_NAME = Own("str", "Name of the EKS cluster.", required=True)
_ROLE_ARN = Own(
    "pulumi.Input[str]",
    "ARN of the IAM role of its service account, from Identities.role_arns. Only for clusters without Pod Identity.",
)

_STANDALONE = "The description of the setting refers to other settings of the stack."
_PASSED_SUBNETS = "A program passes the subnets."
_NO_POOL = "The component has no general pool."
_PREFIXES = Changed(
    "The component does not know whether the cluster was created by this package.",
    doc="Whether the cluster's VPC CNI plugin assigns prefixes (ENABLE_PREFIX_DELEGATION), as it does in a Cluster. "
    "Without prefixes, the addresses of a node's network interfaces limit its pods. Default: true.",
)
_TAINTS = Changed(
    "A stack adds the tolerations to the models' pods itself.",
    doc="Taints for every node, in addition to those for accelerators. Pass them to ModelFleet as tolerations, so "
    "that the models' pods tolerate them.",
)


GPU_NODE_GROUPS = ArgumentMap(
    "GpuNodeGroupsArgs",
    NodeSettings,
    doc="Arguments of GpuNodeGroups: flavors or manifests that determine the nodes, and the cluster.",
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
        "service_levels": SERVICE_LEVELS,
        "instance_types": INSTANCE_TYPES,
        "cluster_name": _CLUSTER_NAME,
        "cluster_plain_name": Own(
            "str",
            "Name of the EKS cluster as a plain string: it is part of tag keys, which must be known at preview.",
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
            "ARN of the nodes' IAM role.",
            required=True,
        ),
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "ID of the security group that EKS created for the cluster; attached to nodes with EFA.",
            required=True,
        ),
        "endpoint": Own(
            "pulumi.Input[str]",
            "URL of the API server. Required with a custom image (ami_id).",
        ),
        "certificate_authority": Own(
            "pulumi.Input[str]",
            "CA certificate of the API server in base64. Required with a custom image (ami_id).",
        ),
        "service_cidr": Own(
            "str",
            "CIDR range of Services, for groups with a custom image (ami_id). Default: 172.20.0.0/16.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for all resources, including instances and volumes.",
        ),
        "timeouts": _TIMEOUTS,
    },
    without={
        "provisioner": "the component is the choice",
        "disruption": "only Karpenter disrupts nodes",
        "general_pool": "only Karpenter has pools",
    },
    changed={
        "ami_release": Changed(
            _STANDALONE,
            doc="AMI release, such as 1.35.6-20260714, or latest for the newest at the time a group is created or "
            "changed. Default: the release that this package pins for the Kubernetes version.",
        ),
        "prefix_delegation": _PREFIXES,
        "scale_to_zero": Changed(
            _STANDALONE,
            doc="Whether groups scale to zero. With false, each preferred group keeps one node. Default: true.",
        ),
        "zones": Changed(
            _PASSED_SUBNETS,
            doc="Availability zones of nodes whose type sets no zones; each must have a subnet. Default: all zones "
            "with a subnet; adding a subnet later then replaces the groups.",
        ),
        "node_repair": Changed(
            _STANDALONE,
            doc="Whether EKS replaces nodes with failed GPUs. Requires the add-on eks-node-monitoring-agent. "
            "Default: false.",
        ),
        "labels": Changed(_NO_POOL, doc="Labels for every node."),
        "taints": _TAINTS,
    },
)

KARPENTER_POOLS = ArgumentMap(
    "KarpenterPoolsArgs",
    NodeSettings,
    doc="Arguments of KarpenterPools: flavors or manifests that determine the nodes, and the cluster.",
    own={
        "flavors": Own(
            "list[FlavorArgs]",
            "Flavors in order of preference; the first gets the highest weight.",
        ),
        "manifests": _MANIFESTS,
        "realization": _REALIZATION,
        "realizations": _REALIZATIONS,
        "workload": _WORKLOAD,
        "runtimes": _RUNTIMES,
        "service_levels": SERVICE_LEVELS,
        "instance_types": INSTANCE_TYPES,
        "region": _REGION,
        "vpc_id": _VPC_ID,
        "subnets": _SUBNETS,
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "ID of the security group that EKS created for the cluster.",
            required=True,
        ),
        "node_role_name": Own(
            "pulumi.Input[str]",
            "Name of the nodes' IAM role: KarpenterAccess.node_role_name.",
            required=True,
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for instances, volumes and network interfaces.",
        ),
        "timeouts": _TIMEOUTS,
    },
    without={
        "provisioner": "the component is the choice",
        "force_update": "Karpenter replaces nodes by its own rules",
        "node_repair": "a feature gate of Karpenter, set in its chart",
    },
    changed={
        "ami_release": Changed(
            _STANDALONE,
            doc="AMI release, such as v20260714, or latest; with latest, Karpenter replaces running nodes for each "
            "new release. Default: the release that this package pins.",
        ),
        "prefix_delegation": _PREFIXES,
        "scale_to_zero": Changed(
            _STANDALONE,
            doc="Whether pools scale to zero. With false, each preferred group keeps one node, which requires "
            "Karpenter's feature gate staticCapacity. Default: true.",
        ),
        "zones": Changed(
            _PASSED_SUBNETS,
            doc="Availability zones of nodes whose type sets no zones; each must have a subnet. Default: all zones "
            "with a subnet.",
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
            "IDs of private subnets in at least two zones, for the control plane. Changes are ignored after "
            "creation, because EKS accepts no other zones. Required unless existing.",
        ),
        "system_subnet_ids": Own(
            "pulumi.Input[list[str]]",
            "IDs of the private subnets of the system nodes. Changes replace the nodes. Default: subnet_ids.",
        ),
        "profile": Own(
            "str",
            "AWS CLI profile with which the kubeconfig gets tokens. Default: the AWS CLI's own selection.",
        ),
        "assume_role_arn": Own(
            "str",
            "ARN of the IAM role that the kubeconfig assumes to get tokens. Default: none.",
        ),
        "image": Own(
            "str",
            "AMI family of the system nodes: al2023 or bottlerocket. Default: al2023.",
        ),
        "enable_patch_force": Own(
            "bool",
            "Whether the Kubernetes provider takes over fields of objects that other managers have applied. Default: "
            "false.",
        ),
        "ipv6_egress": Own(
            "bool",
            "Whether pods reach the internet over IPv6 through their node. Requires subnets with IPv6. Default: "
            "false.",
        ),
        "protect": Own(
            "bool",
            "Whether Pulumi protects the cluster and its KMS key from deletion. Default: false.",
        ),
        "instance_types": INSTANCE_TYPES,
        "permissions_boundary_arn": _BOUNDARY,
        "tags": _TAGS,
        "timeouts": _TIMEOUTS,
    },
    without={
        "zones": "given by subnet_ids",
        "system_zones": "given by system_subnet_ids",
        "oidc_provider_arn": "an argument of Identities",
        "spot_service_linked_role": "create_spot_role of KarpenterAccess",
    },
    changed={
        "existing": Changed(
            _STANDALONE,
            doc="Whether to use the existing cluster of this name, unchanged. Of the other arguments, only "
            "node_role_arn, node_policies, enable_patch_force and those of the kubeconfig (tunnel_port, profile, "
            "assume_role_arn) take effect then. Default: false.",
        ),
        "version": Changed(
            "A stack has a default version.", doc="Kubernetes version, such as 1.35. Required unless existing."
        ),
        "private_access_security_groups": Changed("The groups may be outputs.", "dict[str, pulumi.Input[str]]"),
        "system_ami_release": Changed(
            _STANDALONE,
            doc="AMI release of the system nodes, such as 1.35.6-20260714, or latest for the newest at the time they "
            "are created or changed. Default: the release that this package pins for the Kubernetes version.",
        ),
    },
)

NETWORK = ArgumentMap(
    "NetworkArgs",
    NetworkSettings,
    doc="Arguments of a Network. All must be plain values: they determine which resources are created.",
    own={
        "cluster_name": Own(
            "str",
            "Name of the EKS cluster, used in resource names and in the tags by which controllers discover subnets.",
            required=True,
        ),
        "region": _REGION,
        "control_plane_zones": Own(
            "list[str]",
            "Zones of the control plane's subnets, at least two of zones. Keep them as they were when the cluster "
            "was created: EKS accepts no others later. When set, the other zones can be added, removed and "
            "reordered. Default: all zones.",
        ),
        "permissions_boundary_arn": _BOUNDARY,
        "tags": Own(
            "dict[str, str]",
            "Tags for all resources.",
        ),
        "protect": Own(
            "bool",
            "Whether Pulumi protects a VPC created by the component from deletion. Default: the protect option of "
            "the component.",
        ),
        "timeouts": _TIMEOUTS,
    },
    changed={
        "zones": Changed(
            "The setting refers to cluster.zones.",
            doc="Two to seven availability zones. Without control_plane_zones, do not change the list: the control "
            "plane uses all zones, and the position of a zone determines the addresses of its subnets.",
        ),
        "vpc_id": Changed(
            _STANDALONE,
            doc="ID of an existing VPC. The component creates only interface endpoints in it, and tags nothing.",
        ),
        "ipv6": Changed(
            _STANDALONE,
            doc="Whether a new VPC also has an IPv6 range. Nodes, and pods of a Cluster with ipv6_egress, then reach "
            "the internet over IPv6 without a NAT gateway. The cluster itself remains IPv4. Default: false.",
        ),
        "cidr": Changed(
            _STANDALONE,
            doc="IPv4 CIDR range of the VPC, /16 to /21. For an existing VPC, its range; required only with "
            "interface_endpoints. Default: 10.0.0.0/16.",
        ),
    },
)

MODEL_STORAGE = ArgumentMap(
    "ModelStorageArgs",
    StorageSettings,
    doc="Arguments of a ModelStorage. Arguments that determine which resources are created must be plain values.",
    own={
        "cluster_name": _PLAIN_CLUSTER_NAME,
        "region": _REGION,
        "namespaces": Own(
            "list[str]",
            "Namespaces of the models; each gets a PersistentVolume. A ModelFleet creates the claims.",
            required=True,
        ),
        "vpc_id": Own(
            "pulumi.Input[str]",
            "ID of the cluster's VPC. Required for a new file system.",
        ),
        "subnets": Own(
            "dict[str, pulumi.Input[str]]",
            "ID of the private subnet in each availability zone of the nodes, by zone. Required for a new file "
            "system.",
        ),
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "Security group whose members may mount a new file system: Cluster.security_group_id.",
        ),
        "tags": Own(
            "dict[str, str]",
            "Tags for all resources.",
        ),
        "timeouts": _TIMEOUTS,
    },
    changed={
        "efs": Changed(_STANDALONE, doc="EFS file system to use as the model cache; {} creates one."),
        "fsx": Changed(
            _STANDALONE,
            doc="FSx for Lustre file system to use as the model cache, in one zone. Cannot be combined with efs.",
        ),
        "s3": Changed(
            _STANDALONE,
            doc="S3 buckets to mount read-only, by claim name: each bucket or bucket/prefix/, in the same region. "
            "Pods access them with the permissions of their own service account (Identities.model_buckets).",
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
            "ID of the cluster's VPC.",
            required=True,
        ),
        "subnet_id": Own(
            "pulumi.Input[str]",
            "ID of a private subnet of the VPC that reaches Session Manager, through a NAT gateway or the interface "
            "endpoints ssm and ssmmessages.",
            required=True,
        ),
        "cluster_security_group_id": Own(
            "pulumi.Input[str]",
            "ID of the API server's security group: Cluster.security_group_id.",
            required=True,
        ),
        "permissions_boundary_arn": _BOUNDARY,
        "tags": Own(
            "dict[str, str]",
            "Tags for all resources, including the instance and its volume.",
        ),
        "timeouts": _TIMEOUTS,
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
            "ID of the Route 53 hosted zone of the name, public or private.",
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
            "Name of the EKS cluster as a plain string: the name of the queue contains it and must be known at "
            "preview.",
            required=True,
        ),
        "region": _REGION,
        "node_policies": Own(
            "list[str]",
            "Additional IAM policies of the nodes: names of AWS managed policies, or ARNs. "
            "Default: AmazonSSMManagedInstanceCore.",
        ),
        "create_spot_role": Own(
            "bool",
            "Whether to create the service-linked role AWSServiceRoleForEC2Spot, which Spot Instances require. It is "
            "retained on deletion. Creation fails if the account already has the role. Default: false.",
        ),
        "permissions_boundary_arn": _BOUNDARY,
        "tags": _TAGS,
    },
)

IDENTITIES = ArgumentMap(
    "IdentitiesArgs",
    doc="Arguments of Identities. Arguments that determine which resources are created must be plain values.",
    own={
        "cluster_name": Own(
            "pulumi.Input[str]",
            "Name of the EKS cluster. Pass an output of the cluster, so that the associations depend on it.",
            required=True,
        ),
        "cluster_plain_name": Own(
            "str",
            "Name of the EKS cluster as a plain string: it is part of role names and policies, which must be known "
            "at preview.",
            required=True,
        ),
        "region": Own(
            "str",
            "AWS region of the cluster.",
            required=True,
        ),
        "controllers": Own(
            "list[str]",
            "Controllers to create IAM roles for: cluster-autoscaler, karpenter, load-balancer-controller, ebs-csi "
            "and efs-csi with their default service accounts in kube-system, and cert-manager with the one in "
            "cert-manager. Omit drivers that a Cluster installs as add-ons; they have their own roles. "
            "Default: none.",
        ),
        "model_buckets": Own(
            "list[str]",
            "S3 locations of models, as bucket or bucket/prefix. A prefix matches every key that starts with it; end "
            "it with / to select a folder.",
        ),
        "model_service_accounts": Own(
            "list[str]",
            "Service accounts with read access to model_buckets, as namespace/name.",
        ),
        "node_role_arn": Own(
            "pulumi.Input[str]",
            "ARN of the IAM role of Karpenter's nodes. Required with karpenter.",
        ),
        "interruption_queue_arn": Own(
            "pulumi.Input[str]",
            "ARN of Karpenter's interruption queue. Required with karpenter.",
        ),
        "hosted_zone_id": Own(
            "str",
            "ID of the Route 53 hosted zone in which cert-manager solves DNS-01 challenges. Required with "
            "cert-manager.",
        ),
        "host": Own(
            "str",
            "DNS name to issue certificates for. Required with cert-manager.",
        ),
        "oidc_provider_arn": Own(
            "str",
            "ARN of the IAM OIDC provider of a cluster without the Pod Identity agent. Service accounts then need "
            "the annotation eks.amazonaws.com/role-arn: pass role_arns to ModelFleet. Default: none; Pod Identity is "
            "used.",
        ),
        "permissions_boundary_arn": _BOUNDARY,
        "tags": Own(
            "dict[str, str]",
            "Tags for all roles and associations.",
        ),
    },
)

IMAGE_CACHE = ArgumentMap(
    "ImageCacheArgs",
    doc="Arguments of ImageCache. Arguments that determine which resources are created must be plain values.",
    own={
        "account": Own(
            "str",
            "ID of the AWS account whose registry caches images.",
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
            "ARNs of Secrets Manager secrets with the credentials of registries, by registry. Required for "
            "docker.io, ghcr.io, registry.gitlab.com, cgr.dev and <name>.azurecr.io. The name of each secret must "
            "begin with ecr-pullthroughcache/.",
        ),
        "prefix": Own(
            "str",
            "Prefix of the names of all cached repositories. Default: none.",
        ),
        "existing": Own(
            "bool",
            "Whether the pull-through cache rules already exist. If true, the component only grants nodes access. "
            "Default: false.",
        ),
        "kms_key_arn": Own(
            "str",
            "ARN of the KMS key that encrypts the cached repositories. Default: AES-256 with keys that Amazon S3 "
            "manages.",
        ),
        "keep_images": Own(
            "int",
            "Number of newest images to keep in each repository. Default: all.",
        ),
        "node_roles": Own(
            "dict[str, pulumi.Input[str]]",
            "Names of the IAM roles of nodes that pull through the cache, by an arbitrary key.",
        ),
        "permissions_boundary_arn": _BOUNDARY,
        "tags": Own(
            "dict[str, str]",
            "Tags for the role and for all cached repositories.",
        ),
    },
)

CLUSTER_AUTOSCALER = ArgumentMap(
    "ClusterAutoscalerArgs",
    doc="Arguments of ClusterAutoscaler.",
    own={
        "cluster_name": Own(
            "str",
            "Name of the EKS cluster; part of the tags by which the autoscaler discovers node groups.",
            required=True,
        ),
        "region": _REGION,
        "role_arn": _ROLE_ARN,
        "bounds": Own(
            "pulumi.Input[list[Any]]",
            "Minimum size, maximum size and priority of node groups: GpuNodeGroups.bounds, Cluster.bounds. Default: "
            "the sizes of the Auto Scaling groups, and the expander least-waste.",
        ),
        "bounded_only": Own(
            "bool",
            "Whether to scale only the groups that bounds lists. With false, other groups with the discovery tags "
            "are scaled too, within the sizes of their Auto Scaling group (0 to 450). Default: false.",
        ),
        "longest_grace": Own(
            "int",
            "Longest time that a pod may take to terminate, in seconds; below it, a node that the autoscaler removes "
            "ends before its pods. Default and minimum: 3600.",
        ),
        "values": VALUES,
    },
)

KARPENTER = ArgumentMap(
    "KarpenterArgs",
    doc="Arguments of Karpenter.",
    own={
        "cluster_name": _PLAIN_CLUSTER_NAME,
        "interruption_queue": Own(
            "pulumi.Input[str]",
            "Name of the interruption queue: KarpenterAccess.queue_name.",
            required=True,
        ),
        "features": Own(
            "list[str]",
            "Feature gates to enable: nodeRepair, spotToSpotConsolidation, staticCapacity. Default: none.",
        ),
        "role_arn": _ROLE_ARN,
        "values": VALUES,
    },
)

LOAD_BALANCER_CONTROLLER = ArgumentMap(
    "LoadBalancerControllerArgs",
    doc="Arguments of LoadBalancerController.",
    own={
        "cluster_name": _PLAIN_CLUSTER_NAME,
        "region": Own(
            "str",
            "AWS region; pods cannot read it from instance metadata.",
            required=True,
        ),
        "vpc_id": Own(
            "pulumi.Input[str]",
            "ID of the cluster's VPC; pods cannot read it from instance metadata.",
            required=True,
        ),
        "role_arn": _ROLE_ARN,
        "values": VALUES,
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
    ArgumentMap("AwsTimeoutArgs", AwsTimeoutSettings),
    ArgumentMap("KubernetesVersionArgs", VersionSettings),
    ArgumentMap(
        "NodeTypeArgs",
        TypeSettings,
        changed={
            "capacity": Changed(
                _STANDALONE,
                doc="Purchase option of these nodes: on-demand, spot, odcr (an On-Demand Capacity Reservation) or "
                "capacity-block. Default: capacity.",
            ),
            "zones": Changed(_STANDALONE, doc="Availability zones of these nodes. Default: zones."),
            "max_nodes": Changed(
                "Flavors have no models whose replicas could be counted.",
                doc="Maximum number of nodes in a group, enforced by the node autoscaler. Default: for manifests, "
                "what the models may need; for flavors, 10.",
            ),
        },
    ),
    ArgumentMap(
        "DisruptionArgs",
        DisruptionSettings,
        changed={
            "spot_to_spot": Changed(
                "A stack enables the feature gate itself.",
                doc="Whether Karpenter replaces spot nodes with cheaper spot nodes. Requires its feature gate "
                "spotToSpotConsolidation and at least 15 instance types to choose from. Default: false.",
            )
        },
    ),
    ArgumentMap(
        "FlowLogsArgs",
        FlowLogSettings,
        changed={
            "traffic": Changed(
                "A stack has a default.",
                doc="Connections to record: rejected, accepted or all.",
                required=True,
            )
        },
    ),
)
