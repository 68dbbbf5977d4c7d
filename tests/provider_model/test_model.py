"""The model waits, replaces, refuses and loses as the providers do; else it shows nothing."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from components.plan.review.snapshot import NodeGroupState, Snapshot, ValueSource, WorkloadState
from tests.provider_model.engine import Engine, Kind, Outcome
from tests.provider_model.program import Declared, Program, seconds_of
from tests.provider_model.world import World

CLUSTER, GROUP, KEY = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:kms/key:Key"
SUBNET, VPC, EIP, NAT = (
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:ec2/eip:Eip",
    "aws:ec2/natGateway:NatGateway",
)
POOL, CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def urn(type_: str, name: str = "x") -> str:
    return f"urn:pulumi:s::p::{type_}::{name}"


def made(type_: str, inputs: Mapping[str, Any], *needs: str, name: str = "x", **more: Any) -> Declared:
    """Return a resource; a placeholder ``[id of <URN>]`` in its inputs is an output of another one."""
    return Declared(urn(type_, name), type_, f"{type_} {name}", inputs, frozenset(needs), **more)


def id_of(type_: str, name: str = "x") -> str:
    return f"[id of {urn(type_, name)}]"


def program(*resources: Declared, **more: Any) -> Program:
    sources = {
        f"[{output} of {resource.urn}]": (ValueSource(resource.urn, output),)
        for resource in resources
        for output in ("id", "latestVersion")
    }
    return Program(Snapshot("s", sources=sources, **more), resources)


def ups(world: World, *programs: Program) -> list[Outcome]:
    return [Engine(world, each).run() for each in programs]


def kinds(outcome: Outcome) -> dict[str, str]:
    return {urn.split("::")[2].rpartition(":")[2]: kind.value for urn, kind in outcome.changes.items()}


class TestEngine:
    def test_durations_of_go(self) -> None:
        assert [seconds_of(text) for text in ("30m", "1h30m", "90s", "25m0s")] == [1800, 5400, 90, 1500]

    def test_a_resource_waits_for_what_it_comes_from(self) -> None:
        cluster = made(CLUSTER, {"name": "c"})
        group = made(GROUP, {"clusterName": id_of(CLUSTER)}, cluster.urn)
        (outcome,) = ups(World(), program(cluster, group))
        assert outcome.seconds == 600 + 150

    def test_nothing_happens_twice(self) -> None:
        assert ups(World(), *[program(made(VPC, {"cidrBlock": "10.0.0.0/16"}))] * 2)[1] == Outcome()

    def test_a_new_resource_has_other_outputs(self) -> None:
        def network(cidr: str) -> Program:
            vpc = made(VPC, {"cidrBlock": cidr})
            return program(vpc, made(SUBNET, {"vpcId": id_of(VPC), "cidrBlock": "10.0.0.0/24"}, vpc.urn))

        _, outcome = ups(World(), network("10.0.0.0/16"), network("10.1.0.0/16"))
        assert (outcome.failed, kinds(outcome)) == ("", {"Vpc": "replaced", "Subnet": "replaced"})

    def test_what_goes_first_takes_its_dependents_with_it(self) -> None:
        """A fixed name is taken, so that the cluster goes first, and with it all that cannot stay without it."""

        def fleet(cidr: str) -> Program:
            cluster = made(CLUSTER, {"name": "c", "kubernetesNetworkConfig": {"serviceIpv4Cidr": cidr}})
            origins = {"clusterName": frozenset([cluster.urn])}
            return program(cluster, made(GROUP, {"clusterName": "c"}, cluster.urn, origins=origins))

        world = World()
        _, outcome = ups(world, fleet("172.20.0.0/16"), fleet("172.21.0.0/16"))
        assert kinds(outcome) == {"Cluster": "replaced", "NodeGroup": "replaced"}
        assert {live.turn for live in world.live.values()} == {1}

    @pytest.mark.parametrize("tied", [True, False])
    def test_objects_are_in_the_new_cluster_if_their_provider_goes_with_the_former_one(self, tied: bool) -> None:
        """The identifier of the cluster, region and name, is the same, so that nothing else replaces the provider."""

        def fleet(cidr: str) -> Program:
            cluster = made(CLUSTER, {"name": "c", "kubernetesNetworkConfig": {"serviceIpv4Cidr": cidr}})
            provider = made("pulumi:providers:kubernetes", {"kubeconfig": id_of(CLUSTER)}, cluster.urn)
            provider = dataclasses.replace(provider, goes_with=(cluster.urn,) if tied else ())
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ml"}}
            object_ = made("kubernetes:core/v1:ConfigMap", body, provider.urn)
            return program(cluster, provider, dataclasses.replace(object_, provider=provider.urn))

        _, outcome = ups(World(), fleet("172.20.0.0/16"), fleet("172.21.0.0/16"))
        assert outcome.failed == ""
        assert (kinds(outcome).get("ConfigMap") == "replaced") is tied
        assert (outcome.lost == []) is tied

    def test_protection(self) -> None:
        before = program(made(VPC, {"cidrBlock": "10.0.0.0/16"}, protected=True))
        replaced, removed = program(made(VPC, {"cidrBlock": "10.1.0.0/16"}, protected=True)), program()
        for after in (replaced, removed):
            assert "protected" in ups(World(), before, after)[1].failed

    def test_what_is_read_is_not_deleted(self) -> None:
        cluster = made(CLUSTER, {"name": "c"})
        world = World()
        _, outcome = ups(world, program(cluster), dataclasses.replace(program(), reads=frozenset([cluster.urn])))
        assert (outcome.changes, [live.declared.urn for live in world.existing]) == ({}, [cluster.urn])

    @pytest.mark.parametrize(("timeouts", "fails"), [({}, True), ({"create": 1800.0}, False)])
    def test_waits_end(self, timeouts: Mapping[str, float], fails: bool) -> None:
        """The provider of Kubernetes waits ten minutes for a Deployment whose pods never start."""
        (outcome,) = ups(World(), with_pods(1, most=1, node=900.0, timeouts=timeouts))
        assert outcome.failed == (
            "kubernetes:apps/v1:Deployment x: create timed out after 10 minutes" if fails else ""
        )


class TestRefusals:
    @pytest.mark.parametrize(("version", "refused"), [("1.33", True), ("1.35", False), ("1.36", True)])
    def test_versions(self, version: str, refused: bool) -> None:
        before, after = (program(made(CLUSTER, {"name": "c", "version": each})) for each in ("1.34", version))
        assert ("Unsupported" in ups(World(), before, after)[1].failed) is refused

    def test_a_key_in_use(self) -> None:
        """EKS keeps the key of the creation, and KMS deletes it all the same."""

        def encrypted(key: str) -> Declared:
            config = {"provider": {"keyArn": key}, "resources": ["secrets"]}
            return made(CLUSTER, {"name": "c", "encryptionConfig": config}, urn(KEY))

        own = program(made(KEY, {}), encrypted(id_of(KEY)))
        _, same, outcome = ups(World(), own, own, program(encrypted("arn:aws:kms:::key/other")))
        assert same.lost == []
        assert outcome.failed == ""
        assert outcome.lost == [f"{CLUSTER} x needs x, which is deleted"]
        assert outcome.without_effect == [f"{CLUSTER} x: encryptionConfig"]

    def test_a_subnet_in_use(self) -> None:
        def network(*names: str) -> Program:
            subnets = [made(SUBNET, {"vpcId": "v", "cidrBlock": f"10.0.{name}.0/24"}, name=name) for name in names]
            config = {"subnetIds": [id_of(SUBNET, name) for name in names]}
            needs = [subnet.urn for subnet in subnets]
            return program(
                *subnets, made(CLUSTER, {"name": "c", "vpcConfig": config}, *needs, ignored=("vpcConfig.subnetIds",))
            )

        _, outcome = ups(World(), network("1", "2"), network("1"))
        assert outcome.failed == f"{SUBNET} 2: delete timed out after 20 minutes"

    def test_what_is_taken(self) -> None:
        """A new gateway cannot have the address of the old one, which is still there."""

        def gateway(subnet: str) -> Program:
            address = made(EIP, {"domain": "vpc"})
            return program(address, made(NAT, {"allocationId": id_of(EIP), "subnetId": subnet}, address.urn))

        assert "already exists" in ups(World(), gateway("a"), gateway("b"))[1].failed


def with_pods(
    replicas: int,
    *,
    image: str = "i",
    node: float = 60.0,
    most: int = 4,
    labels: Mapping[str, str] = {"of": "a"},
    selector: Mapping[str, str] = {"of": "a"},
    group: str = "a",
    version: str = "1.34",
    budget: str = "",
    reserved: int = 0,
    timeouts: Mapping[str, float] = {"create": 7200.0, "update": 7200.0},
) -> Program:
    """Return a Deployment on the nodes of a managed group, or of a pool with a budget."""
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "n"},
        "spec": {
            "replicas": replicas,
            "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            "template": {
                "metadata": {"labels": {"app": "x"}},
                "spec": {
                    "containers": [{"name": "main", "image": image}],
                    "nodeSelector": dict(selector),
                    "terminationGracePeriodSeconds": 10,
                },
            },
        },
    }
    title = f"{DEPLOYMENT} x"
    workload = WorkloadState(title, "", "n", body, (replicas, replicas, replicas), 1, 1, group)
    state = NodeGroupState(group, "t", "on-demand", replicas, most, 1, "cloud")
    if budget:
        template = {
            "metadata": {"labels": dict(labels), "annotations": {"of": version}},
            "spec": {"requirements": [], "nodeClassRef": {"name": group}},
        }
        spec = {"template": template, "disruption": {"budgets": [{"nodes": budget}]}}
        metadata = {"name": group}
        of_class = {"capacityReservationSelectorTerms": [{"id": "cr-1"}]}
        nodes = [
            made(CLASS, {"kind": "EC2NodeClass", "metadata": metadata, "spec": of_class}),
            made(POOL, {"kind": "NodePool", "metadata": metadata, "spec": spec}, urn(CLASS)),
        ]
    else:
        nodes = [made(GROUP, {"labels": dict(labels), "version": version}, name=f"nodes-{group}")]
    deployed = made(DEPLOYMENT, body, timeouts=timeouts)
    found = program(*nodes, deployed, workloads=(workload,), groups=(state,))
    snapshot = dataclasses.replace(found.snapshot, stack=str(node))
    return dataclasses.replace(found, snapshot=snapshot, reserved={"cr-1": reserved})


@pytest.fixture(autouse=True)
def known_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node takes what the program says, and a pod ten seconds, or five where its image is there."""
    from tests.provider_model.cluster import Load, Start

    def load(_world: World, state: WorkloadState, snapshot: Snapshot) -> Load:
        start = Start(float(snapshot.stack), 10.0, 5.0)
        return Load(state.title, state.body, state.replicas[0], state.accelerators, start, 10.0)

    monkeypatch.setattr(World, "_load", load)


class TestPods:
    title = f"{DEPLOYMENT} x"

    def effect(self, *programs: Program) -> tuple[int, int, float]:
        """Return how many pods restarted in the last update, how many were missing at once, and how long."""
        outcome = ups(World(), *programs)[-1]
        assert outcome.failed == ""
        short = outcome.short.get(self.title)
        return outcome.restarted.get(self.title, 0), short.most if short else 0, short.seconds if short else 0.0

    def test_an_image(self) -> None:
        """One after the other: ten seconds until the old one has ended, ten until the new one is ready."""
        assert self.effect(with_pods(2), with_pods(2, image="j")) == (2, 1, 40.0)

    def test_a_replica_more(self) -> None:
        assert self.effect(with_pods(1), with_pods(2)) == (0, 1, 70.0)

    def test_nothing(self) -> None:
        assert self.effect(with_pods(2), with_pods(2)) == (0, 0, 0.0)

    def test_a_version_of_nodes(self) -> None:
        """New nodes start before the pods of old ones are evicted, one node after the other."""
        assert self.effect(with_pods(2), with_pods(2, version="1.35")) == (2, 1, 20.0)

    def test_nodes_that_start_too_late(self) -> None:
        """Two nodes come first; the third pod, evicted after 140 s, waits for the node launched after 70."""
        slow = [with_pods(3, node=200.0, version=version) for version in ("1.34", "1.35")]
        assert self.effect(*slow) == (3, 1, 10.0 + 10.0 + (70.0 + 200.0 - 140.0 + 10.0))

    def test_another_group(self) -> None:
        """The old group goes last and all its pods at once; they wait for nodes of the new one."""
        assert self.effect(with_pods(2), with_pods(2, group="b")) == (2, 2, 70.0)

    def test_a_pool_that_drifts(self) -> None:
        assert self.effect(with_pods(2, budget="1"), with_pods(2, budget="1", version="1.35")) == (2, 1, 20.0)

    def test_a_pool_without_a_spare_node(self) -> None:
        """Karpenter starts a node before it drains one, and a reservation has no more of them."""
        for reserved, restarts in ((2, 0), (3, 2)):
            revisions = [with_pods(2, budget="1", version=each, reserved=reserved) for each in ("1.34", "1.35")]
            assert self.effect(*revisions)[0] == restarts

    def test_pods_that_no_node_accepts(self) -> None:
        (outcome,) = ups(World(), with_pods(1, selector={"of": "b"}))
        assert "timed out" in outcome.failed

    def test_kinds_are_those_of_plan(self) -> None:
        from components.plan.review.review import ChangeKind

        assert [kind.value for kind in Kind] == [kind.value for kind in ChangeKind]
