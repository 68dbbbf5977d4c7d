"""Who needs whom for as long as it lives, read off a graph's inputs and not off its dependencies.

Pulumi deletes in the opposite order of the dependencies (parents and providers among them), and at once what does not
depend on each other. What something needs must therefore be among what it depends on, however far away.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tests.recorded import Entry, Recorded

ACCOUNT = "123456789012"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
INLINE = "aws:iam/rolePolicy:RolePolicy"
ROLE = "aws:iam/role:Role"
PROFILE = "aws:iam/instanceProfile:InstanceProfile"
INSTANCE = "aws:ec2/instance:Instance"
CLUSTER = "aws:eks/cluster:Cluster"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"
ACCESS_POLICY = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
POD_IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
RULES = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)
NAT, INTERNET = "aws:ec2/natGateway:NatGateway", "aws:ec2/internetGateway:InternetGateway"
WAYS = (
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    NAT,
    INTERNET,
)
NOTICES = ("aws:sqs/queuePolicy:QueuePolicy", "aws:cloudwatch/eventTarget:EventTarget")
RELEASE = "kubernetes:helm.sh/v3:Release"
NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"
NODE_CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
NAMESPACE = "kubernetes:core/v1:Namespace"
CHART_NAMESPACES = ("envoy-gateway-system", "monitoring")
"""Where the Service of a gateway is, and the claim of Prometheus."""
WORKLOADS = (
    "kubernetes:apps/v1:Deployment",
    "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
)
JOB = "kubernetes:batch/v1:Job"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE = {
    "efs.csi.aws.com": (*("aws:efs/fileSystem:FileSystem", "aws:efs/mountTarget:MountTarget"),),
    "fsx.csi.aws.com": ("aws:fsx/lustreFileSystem:LustreFileSystem",),
}
"""What volumes of a driver are made of."""
BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""Add-ons without which a node has no network and its pods no identity (EKS user guide, "Amazon EKS add-ons")."""


def strings(value: Any) -> Iterator[str]:
    """Every string in a value, inside secrets too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


class Destroyed:
    """A graph that is being destroyed."""

    def __init__(self, graph: Recorded) -> None:
        self.graph = graph.graph
        self._needs: dict[str, frozenset[str]] = {}
        self._edges = {
            e.key: {key for key in (*e.dependencies, e.parent, e.provider) if key in {g.key for g in graph.graph}}
            for e in graph.graph
        }

    def of(self, *types: str) -> list[Entry]:
        return [entry for entry in self.graph if entry.type in types]

    @cached_property
    def objects(self) -> list[Entry]:
        """Everything that is in the cluster, made by Helm or by Pulumi."""
        return [entry for entry in self.graph if entry.type.startswith("kubernetes:")]

    @cached_property
    def pools(self) -> list[Entry]:
        return self.of(NODE_POOL, NODE_CLASS)

    @cached_property
    def model_groups(self) -> list[Entry]:
        return [entry for entry in self.of(NODE_GROUP) if entry.parent.partition("::")[0].endswith("GpuNodeGroups")]

    def release(self, chart: str) -> list[Entry]:
        """The release of a chart, where it is installed."""
        return [entry for entry in self.of(RELEASE) if str(entry.inputs["chart"]).rpartition("/")[2] == chart]

    def using(self, *values: str) -> list[Entry]:
        """Entries that name something: by its ARN, its name or its ID, as a whole value."""
        return [entry for entry in self.graph if set(values) & set(strings(entry.inputs))]

    def outlives(self, needed: Entry, user: Entry) -> bool:
        """Whether something is deleted only after its user, whatever else happens at the same time."""
        return needed.key in self._all_needs(user.key)

    def _all_needs(self, key: str) -> frozenset[str]:
        if key not in self._needs:
            direct = self._edges[key]
            self._needs[key] = frozenset(direct).union(*map(self._all_needs, direct))
        return self._needs[key]


Lifetime = tuple[Entry, Entry]
"""What is needed, and who needs it."""


def pairs(needed: Iterable[Entry], users: Iterable[Entry]) -> Iterator[Lifetime]:
    users = list(users)
    for one in needed:
        yield from ((one, user) for user in users if user is not one)


def lifetimes(graph: Destroyed) -> Iterator[Lifetime]:
    """Everything that must not go before something else."""
    for read in (
        _of_roles,
        _of_access,
        _of_identities,
        _of_addons,
        _of_rules,
        _of_storage,
        _of_network,
        _of_controllers,
        _of_nodes,
        _of_the_bastion,
    ):
        yield from read(graph)


def _of_roles(graph: Destroyed) -> Iterator[Lifetime]:
    """A role without its policies may do nothing, and who uses it is stuck."""
    roles = {entry.inputs.get("name", entry.name): entry for entry in graph.of(ROLE)}
    # These two name a role without acting as it.
    silent = (ROLE, ATTACHMENT, INLINE, ACCESS_ENTRY)
    for policy in graph.of(ATTACHMENT, INLINE):
        name = policy.inputs["role"]
        arn = f"arn:aws:iam::{ACCOUNT}:{roles[name].name}"
        takers = [user for user in graph.using(arn) if user.type not in silent]
        makers = [user for user in graph.of(NODE_CLASS) if user.inputs["spec"].get("role") == name]
        profiles = [entry.name for entry in graph.of(PROFILE) if entry.inputs["role"] == name]
        makers += [entry for entry in graph.of(INSTANCE) if entry.inputs["iamInstanceProfile"] in profiles]
        assert takers or makers, f"nobody uses the role of {policy.key}"
        yield from pairs([policy], [*takers, *makers])


def _of_access(graph: Destroyed) -> Iterator[Lifetime]:
    """Nodes talk to the API by their access entry, people delete by theirs, and some through a bastion."""
    for entry in graph.of(ACCESS_ENTRY):
        yield from pairs([entry], graph.pools if entry.inputs.get("type") == "EC2_LINUX" else graph.objects)
    yield from pairs(graph.of(ACCESS_POLICY), graph.objects)
    yield from pairs(graph.of("aws:ec2/instance:Instance"), graph.objects)
    yield from pairs(graph.of(NODE_GROUP), [e for e in graph.objects if e.type in WORKLOADS])


def _of_identities(graph: Destroyed) -> Iterator[Lifetime]:
    """A controller that loses its identity leaves what it made, and pods cannot read their weights."""
    for identity in graph.of(POD_IDENTITY):
        account, namespace = identity.inputs["serviceAccount"], identity.inputs["namespace"]
        releases = [r for r in graph.of(RELEASE) if account in strings(r.inputs["values"])]
        pods = [
            entry
            for entry in graph.of(*WORKLOADS)
            if entry.inputs["metadata"]["namespace"] == namespace and account in strings(entry.inputs["spec"])
        ]
        yield from pairs([identity], [r for r in releases if r.inputs["namespace"] == namespace] + pods)
        if account == "karpenter":
            yield from pairs([identity], graph.pools)
    yield from pairs(graph.of(*NOTICES), [*graph.release("karpenter"), *graph.pools])


def _of_addons(graph: Destroyed) -> Iterator[Lifetime]:
    """Nodes need network and identities of their pods; the other add-ons need nodes; pods may need any."""
    for addon in graph.of(ADDON):
        yield from pairs([addon], graph.objects)
        if addon.inputs["addonName"] in BEFORE_NODES:
            yield from pairs([addon], graph.of(NODE_GROUP))
        else:
            yield from pairs([e for e in graph.of(NODE_GROUP) if e not in graph.model_groups], [addon])


def _of_rules(graph: Destroyed) -> Iterator[Lifetime]:
    """What is in a security group can talk for as long as its rules are there."""
    for rule in graph.of(*RULES):
        group = rule.inputs["securityGroupId"]
        if rule.inputs.get("referencedSecurityGroupId") == "storage-fsx-id" != group:
            # Nodes let the servers of a file system in; who mounts none does without.
            yield from pairs([rule], graph.of(VOLUME))
            continue
        # The mock gives a group the ID of the file system of that name, which access points have.
        users = [user for user in graph.using(group) if user.type not in (*RULES, "aws:efs/accessPoint:AccessPoint")]
        yield from pairs([rule], users)
        if group == "sg-cluster":
            yield from pairs([rule], graph.objects)


def _of_storage(graph: Destroyed) -> Iterator[Lifetime]:
    """Pods unmount what is still there: a file system with its ways in, a volume, a claim."""
    volumes, claims = graph.of(VOLUME), graph.of(CLAIM)
    for volume in volumes:
        driver = volume.inputs["spec"]["csi"]["driver"]
        yield from pairs(graph.of(*STORAGE.get(driver, ())), [volume])
        name = volume.inputs["metadata"]["name"]
        yield from pairs([volume], [claim for claim in claims if claim.inputs["spec"].get("volumeName") == name])
    for claim in claims:
        name, namespace = claim.inputs["metadata"]["name"], claim.inputs["metadata"]["namespace"]
        pods = [e for e in graph.of(*WORKLOADS, JOB) if e.inputs["metadata"]["namespace"] == namespace]
        yield from pairs([claim], [entry for entry in pods if name in strings(entry.inputs["spec"])])


def _of_network(graph: Destroyed) -> Iterator[Lifetime]:
    """Private nodes reach EKS, EC2 and registries through NAT and endpoints; load balancers are in public subnets."""
    made = [e for e in graph.of(NODE_GROUP) if e.name == "cluster-system"]
    gateways = graph.of(NAT)
    yield from pairs(graph.of(INTERNET), gateways)
    private = [e for e in graph.of(*WAYS) if "public" not in e.name and e.type != INTERNET]
    yield from pairs(private, [*graph.of(CLUSTER), *made])
    late = [*graph.of(RELEASE), *graph.pools, *graph.model_groups]
    yield from pairs(graph.of(*WAYS, ENDPOINT), late)
    if not gateways:
        yield from pairs(graph.of(ENDPOINT), made)


def _of_the_bastion(graph: Destroyed) -> Iterator[Lifetime]:
    """Whoever deletes what is in the cluster comes through it, and it reaches Session Manager as nodes reach EKS."""
    bastions = graph.of(INSTANCE)
    yield from pairs(bastions, graph.objects)
    yield from pairs([e for e in graph.of(*WAYS) if "public" not in e.name and e.type != INTERNET], bastions)
    if not graph.of(NAT):
        yield from pairs(graph.of(ENDPOINT), bastions)


def _of_controllers(graph: Destroyed) -> Iterator[Lifetime]:
    """What has a finalizer goes while its controller is there to take it off."""
    karpenter, balancers = graph.release("karpenter"), graph.release("aws-load-balancer-controller")
    yield from pairs(karpenter, graph.pools)
    services = [e for e in graph.of("kubernetes:core/v1:Service") if e.inputs["spec"].get("type") == "LoadBalancer"]
    gateways = [e for e in graph.objects if e.type.endswith(":Gateway")]
    # What a chart's namespace holds goes with it, by the hand of controllers.
    places = [e for e in graph.of(NAMESPACE) if e.inputs["metadata"]["name"] in CHART_NAMESPACES]
    yield from pairs([*balancers, *graph.of(ADDON)], places)
    yield from pairs(balancers, [*services, *gateways, *graph.release("gateway-helm")])
    doors = [e for e in graph.objects if "gateway" in e.type.partition(":")[2].partition("/")[0]]
    yield from pairs(graph.release("gateway-helm"), doors)
    ours = {e.inputs["metadata"]["name"]: e for e in graph.of(NAMESPACE)}
    left = {r.inputs["namespace"] for r in graph.of(RELEASE)} - {"kube-system"} - ours.keys()
    assert not left, f"what charts leave in {left} stays"
    for entry in graph.objects:
        place = entry.inputs.get("namespace") or entry.inputs.get("metadata", {}).get("namespace")
        yield from pairs([ours[place]] if place in ours else [], [entry])


def _of_nodes(graph: Destroyed) -> Iterator[Lifetime]:
    """Pods end on nodes that are there, pools before what their nodes are made of, everything before its cluster."""
    pods = graph.of(*WORKLOADS)
    makers = [*graph.release("karpenter"), *graph.release("cluster-autoscaler")]
    yield from pairs([*graph.model_groups, *graph.of(NODE_POOL), *makers], pods)
    for pool in graph.of(NODE_POOL):
        named = pool.inputs["spec"]["template"]["spec"]["nodeClassRef"]["name"]
        yield from pairs([c for c in graph.of(NODE_CLASS) if c.inputs["metadata"]["name"] == named], [pool])
    for group in graph.of("aws:ec2/placementGroup:PlacementGroup"):
        # The mock names it after its logical name, which other resources of the group have too.
        placed = [e for e in graph.of(LAUNCH_TEMPLATE, NODE_CLASS) if group.name in strings(e.inputs)]
        assert placed, f"nobody is in {group.key}"
        yield from pairs([group], placed)
    for template in graph.of(LAUNCH_TEMPLATE):
        yield from pairs([template], [e for e in graph.of(NODE_GROUP) if f"{template.name}-id" in strings(e.inputs)])
    logs = [group for group in graph.of("aws:cloudwatch/logGroup:LogGroup") if "/eks/" in group.inputs["name"]]
    yield from pairs([*graph.of("aws:kms/key:Key"), *logs], graph.of(CLUSTER))
    inside = graph.of(NODE_GROUP, ADDON, ACCESS_ENTRY, ACCESS_POLICY, POD_IDENTITY)
    yield from pairs(graph.of(CLUSTER), [*inside, *graph.objects])
