"""A value other than its default for every key of the settings, beside what gives the key a meaning."""

from typing import Any

from components.clouds.aws.nodes.owned import FixedProperties
from tests.stacks.every_key.level_samples import LEVEL_SAMPLES
from tests.stacks.every_key.sample import TYPE, Sample
from tests.stacks.every_key.shape_samples import SHAPE_SAMPLES
from tests.stacks.every_key.type_samples import TYPE_SAMPLES

_CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b"
_KEY = "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
_ROLE = "arn:aws:iam::123456789012:role/team"
_READ_ONLY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}],
}
_CLOSED = {"network": {"natGateways": "none"}}
_ISSUER = "https://login.example.com"


def _type(**rule: Any) -> dict[str, Any]:
    return {"gpuNodes": {"types": {TYPE: rule}}}


_GATEWAY = {"frontDoor": {"expose": "gateway", "internal": True, "host": "models.example.com"}}
_TLS = {"frontDoor": {**_GATEWAY["frontDoor"], "tls": {"kind": "cert-manager", "issuer": "letsencrypt"}}}
_ZONE = {**_TLS, "dns": {"hostedZoneId": "Z0123456789ABCDEFGHIJ"}}
_ACME = {**_TLS, "dns": {"hostedZoneId": "Z0123456789ABCDEFGHIJ", "acme": {}}}
_JWT = {
    "frontDoor": {
        **_GATEWAY["frontDoor"],
        "auth": {"kind": "jwt", "issuer": _ISSUER, "jwksUri": f"{_ISSUER}/keys", "audiences": ["models"]},
    }
}
_BALANCERS = {"frontDoor": {"expose": "load-balancer", "internal": True}}
_EFS = {
    "modelCache": {"efs": {"throughput": "provisioned", "mibps": 100}},
    "cluster": {"addons": {"aws-efs-csi-driver": ""}},
}
_LUSTRE = {"modelCache": {"fsx": {"zone": "us-east-1a"}}, "cluster": {"addons": {"aws-fsx-csi-driver": ""}}}
_LUSTRE_GIVEN = {
    "modelCache": {
        "fsx": {"id": "fs-0123456789abcdef0", "dnsName": "fs-0.fsx.us-east-1.amazonaws.com", "mountName": "abcdef"}
    },
    "cluster": {"addons": {"aws-fsx-csi-driver": ""}},
}
_NEW_VERSION = {
    "cluster": {
        "version": "1.37",
        "support": "extended",
        "kubernetesVersions": {"1.37": {"standardUntil": "2026-11-01", "extendedUntil": "2027-11-01"}},
    }
}
_THREE = {"network": {"zones": ["us-east-1a", "us-east-1b", "us-east-1c"]}}
_SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/docker-hub-AbCdEf"
_CACHED = {"imageCache": {"account": "123456789012", "registries": ["registry.k8s.io"]}}
_CACHED_HUB = {
    "imageCache": {"registries": ["docker.io"], "credentials": {"docker.io": _SECRET}},
}
_BASTION = {"cluster": {"bastion": True}}
_LIMITED = {
    "frontDoor": {**_JWT["frontDoor"], "rateLimit": {"requests": 60, "redis": "redis.cache.svc:6379"}},
}
_HELD = {"id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 2}
_ODCR = _type(capacity="odcr", reservation=_HELD)
_BLOCK = {**_HELD, "starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
_NEXT = {**_BLOCK, "id": "cr-1123456789abcdef0", "starts": "2026-12-08T11:30:00Z", "ends": "2026-12-15T11:30:00Z"}
_BLOCKS = _type(capacity="capacity-block", reservation=_BLOCK, nextBlocks=[_NEXT])
_P5 = {"gpuNodes": {"types": {"p5.48xlarge": {"capacity": "odcr", "reservation": {**_HELD, "count": 4}}}}}
_VPC = {
    "network": {
        "zones": [],
        "vpcId": "vpc-0a1b",
        "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
    }
}
_BUDGET = {"gpuNodes": {"disruption": {"budgets": [{"nodes": "1"}]}}}
_DAILY = {"gpuNodes": {"disruption": {"budgets": [{"nodes": "1", "schedule": "@daily", "duration": "1h"}]}}}
_OWNED_PROPERTIES = FixedProperties(
    ami_type="AL2023_x86_64_NVIDIA",
    capacity_type="ON_DEMAND",
    disk_gib=None,
    instance_types=(TYPE,),
    launch_template_id="lt-1",
    node_role_arn="arn:aws:iam::123456789012:role/nodes",
    ssh_key="",
    ssh_security_groups=(),
    subnets=("subnet-a",),
    size=(0, 4, 2),
)
_OWNED_GROUP = {
    "name": "gpu",
    "launchTemplateVersion": "3",
    "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
    "fixed": {
        "subnets": ["subnet-a"],
        "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
        "capacityType": "ON_DEMAND",
        "instanceTypes": [TYPE],
        "amiType": "AL2023_x86_64_NVIDIA",
        "launchTemplateId": "lt-1",
        "size": {"min": 0, "max": 4, "desired": 2},
        "checksum": _OWNED_PROPERTIES.checksum,
    },
}
_OWNED = {"cluster": {"existing": True}, **_type(ownedGroups=[_OWNED_GROUP])}
_MONITORED = {"prerequisites": {"monitoring": True}}
_SCALED = {"models": ["stacks/models/llmkube-autoscaled.yaml"]}
_PROMETHEUS_ELSEWHERE = {"prerequisites": {"monitoring": True, "present": ["prometheus"]}}
_GUARDED = {
    "prerequisites": {"monitoring": True, "present": ["prometheus"], "prometheusNamespace": "here"},
    "hardening": {"networkPolicies": True},
}
_TAINT = [{"key": "dedicated", "value": "models", "effect": "NoSchedule"}]
_TAINTED: dict[str, Any] = {"gpuNodes": {"taints": _TAINT}}
_GENERAL = {"gpuNodes": {"generalPool": {"maxVcpus": 32}}}

SAMPLES: dict[str, Sample] = {
    # How models are rendered.
    "namespace": Sample("elsewhere"),
    "realization": Sample("operator"),
    "workload": Sample("lws"),
    "runtimes": Sample("upstream"),
    "prices": Sample("no/such/file.yaml"),
    "adopted.objects": Sample(["core/Namespace/models"]),
    "adopted.omitted": Sample(["core/Service/models/qwen-chat-lb"]),
    "adopted.retain": Sample(value=False, beside={"adopted": {"objects": ["core/Namespace/models"]}}),
    "otherKinds": Sample("pass", {"models": ["tests/stacks/every_key/other.yaml"]}),
    "ignore": Sample({"access-anonymous": "behind a VPN"}),
    "simulatedNodes": Sample(True),
    "customResources": Sample(True, {"models": ["stacks/models/llama-405b-multinode.yaml"], **_P5}),
    "models": Sample(["stacks/models/qwen-cpu.yaml"]),
    "modelBuckets": Sample(["weights/llama/"]),
    "imageCache.account": Sample("210987654321", _CACHED),
    "imageCache.registries": Sample(["registry.k8s.io", "public.ecr.aws"], _CACHED),
    "imageCache.prefix": Sample("prod", _CACHED),
    "imageCache.credentials": Sample({"docker.io": f"{_SECRET[:-6]}GhIjKl"}, _CACHED_HUB),
    "imageCache.existing": Sample(True, _CACHED),
    "imageCache.kmsKeyArn": Sample(_KEY, _CACHED),
    "imageCache.keepImages": Sample(20, _CACHED),
    "modelCache.claim": Sample("weights"),
    "modelCache.bound": Sample(True, {"modelCache": {"claim": "weights"}}),
    "modelCache.hostPath": Sample("/var/cache/models"),
    "modelCache.readOnlyClaims": Sample(["models/weights"]),
    "modelCache.efs.id": Sample("fs-0123456789abcdef0", {"cluster": {"addons": {"aws-efs-csi-driver": ""}}}),
    "modelCache.efs.throughput": Sample("bursting", _EFS),
    "modelCache.efs.mibps": Sample(200, _EFS),
    "modelCache.efs.kmsKeyArn": Sample(_KEY, _EFS),
    "modelCache.efs.uid": Sample(1234, _EFS),
    "modelCache.efs.gid": Sample(1234, _EFS),
    "modelCache.fsx.id": Sample("fs-1123456789abcdef0", _LUSTRE_GIVEN),
    "modelCache.fsx.dnsName": Sample("fs-1.fsx.us-east-1.amazonaws.com", _LUSTRE_GIVEN),
    "modelCache.fsx.mountName": Sample("other", _LUSTRE_GIVEN),
    "modelCache.fsx.zone": Sample("us-east-1b", _LUSTRE),
    "modelCache.fsx.deployment": Sample("scratch-2", _LUSTRE),
    "modelCache.fsx.capacityGib": Sample(2400, _LUSTRE),
    "modelCache.fsx.throughputPerTib": Sample(500, _LUSTRE),
    "modelCache.fsx.kmsKeyArn": Sample(_KEY, _LUSTRE),
    "modelCache.s3": Sample(["weights/llama/"]),
    **LEVEL_SAMPLES,
    **SHAPE_SAMPLES,
    **TYPE_SAMPLES,
    "pods.tolerations": Sample([{"key": "dedicated", "operator": "Exists"}]),
    "pods.serviceAccountName": Sample("serving"),
    "pods.imagePullSecrets": Sample(["registry"]),
    "pods.priorityClassName": Sample("high"),
    "pods.annotations": Sample({"team": "a"}),
    "pods.labels": Sample({"team": "a"}),
    "pods.nodeSelector": Sample({"team": "a"}),
    "hardening.podSecurity": Sample("restricted"),
    "hardening.disruptionBudgets": Sample(True, {"models": ["stacks/models/gemma-elastic.yaml"]}),
    "hardening.topologySpread": Sample(True, {"models": ["stacks/models/gemma-elastic.yaml"]}),
    "hardening.priority": Sample("critical"),
    "hardening.newReplicasFirst": Sample(True),
    "hardening.networkPolicies": Sample(True),
    # What is installed.
    "prerequisites.install": Sample(False),
    "prerequisites.present": Sample(["nvidia-device-plugin"]),
    "prerequisites.adapter": Sample("keda", {"models": ["stacks/models/llmkube-autoscaled.yaml"]}),
    "prerequisites.gpuStack": Sample("operator"),
    "prerequisites.monitoring": Sample(True),
    "prerequisites.grafana": Sample(False, _MONITORED),
    "prerequisites.prometheusUrl": Sample("http://prometheus.elsewhere", _SCALED),
    "prerequisites.prometheusPort": Sample(9091, _SCALED),
    "prerequisites.prometheusNamespace": Sample("elsewhere", _GUARDED),
    "prerequisites.monitorLabels": Sample({"release": "kps"}, _PROMETHEUS_ELSEWHERE),
    "prerequisites.adapterConfigMap": Sample(
        "monitoring/rules", {**_SCALED, "prerequisites": {"present": ["prometheus-adapter"]}}
    ),
    "prerequisites.retention": Sample("3d", _MONITORED),
    "prerequisites.storageGib": Sample(50, {**_MONITORED, "cluster": {"addons": {"aws-ebs-csi-driver": ""}}}),
    # How clients reach the models.
    "frontDoor.expose": Sample("load-balancer", {"frontDoor": {"internal": True}}),
    "frontDoor.host": Sample("other.example.com", _GATEWAY),
    "dns.hostedZoneId": Sample("Z0123456789ABCDEFGHIJ", _TLS),
    "dns.record": Sample(False, _ZONE),
    "dns.acme.email": Sample("ops@example.com", _ACME),
    "dns.acme.server": Sample("https://acme.example.com/directory", _ACME),
    "frontDoor.tls.kind": Sample("none", _TLS),
    "frontDoor.tls.issuer": Sample("other", _TLS),
    "frontDoor.tls.issuerKind": Sample("Issuer", _TLS),
    "frontDoor.tls.certificateArn": Sample(
        _CERTIFICATE.replace("0a1b", "1b2c"),
        {"frontDoor": {**_GATEWAY["frontDoor"], "tls": {"kind": "acm", "certificateArn": _CERTIFICATE}}},
    ),
    "frontDoor.auth.kind": Sample("none", _JWT),
    "frontDoor.auth.secrets": Sample(
        ["others"], {"frontDoor": {**_GATEWAY["frontDoor"], "auth": {"kind": "api-key", "secrets": ["clients"]}}}
    ),
    "frontDoor.auth.issuer": Sample("https://other.example.com", _JWT),
    "frontDoor.auth.jwksUri": Sample(f"{_ISSUER}/others", _JWT),
    "frontDoor.auth.audiences": Sample(["others"], _JWT),
    "frontDoor.auth.clientClaim": Sample("client_id", _JWT),
    "frontDoor.requestTimeout": Sample("20m", _GATEWAY),
    "frontDoor.maxBodySize": Sample("10Mi", _GATEWAY),
    "frontDoor.rateLimit.requests": Sample(120, _LIMITED),
    "frontDoor.rateLimit.tokens": Sample(1000, _LIMITED),
    "frontDoor.rateLimit.unit": Sample("hour", _LIMITED),
    "frontDoor.rateLimit.redis": Sample("other.cache.svc:6379", _LIMITED),
    "frontDoor.internal": Sample(False, {"frontDoor": {**_JWT["frontDoor"], "allowAnonymous": True}}),
    "frontDoor.accessLog": Sample(False, _GATEWAY),
    "frontDoor.allowAnonymous": Sample(True, {"frontDoor": {**_TLS["frontDoor"], "internal": False}}),
    "frontDoor.replicas": Sample(3, _GATEWAY),
    "frontDoor.clientCidrs": Sample(["10.1.0.0/16"], _BALANCERS),
    "frontDoor.balancerCidrs": Sample(["10.1.0.0/16"], {**_BALANCERS, "hardening": {"networkPolicies": True}}),
    "frontDoor.rollout.drainTimeout": Sample("14m", _GATEWAY),
    "frontDoor.rollout.minDrainDuration": Sample("4m", _GATEWAY),
    "frontDoor.rollout.idleTimeout": Sample("400s", _BALANCERS),
    "frontDoor.rollout.readinessGates": Sample(False, _BALANCERS),
    # The stack.
    "cloud": Sample("none"),
    "region": Sample("us-east-2", word="us-east-2"),
    "kubeconfig": Sample("kubeconfig"),
    "context": Sample("other"),
    "clusterName": Sample("other"),
    "tags": Sample({"team": "a"}),
    "protect": Sample(True),
    "permissionsBoundaryArn": Sample("arn:aws:iam::123456789012:policy/boundary"),
    "credentials.allowedAccountIds": Sample(["123456789012"]),
    "credentials.profile": Sample("team"),
    "credentials.sessionDuration": Sample("15m"),
    "timeouts.models": Sample("3h"),
    "timeouts.charts": Sample("50m"),
    "timeouts.cluster": Sample("2h"),
    "timeouts.nodeGroups": Sample("9h"),
    "timeouts.network": Sample("40m"),
    "timeouts.storage": Sample("50m", _EFS),
    "waitForModels": Sample(False),
    "credentials.assumeRoleArn": Sample(_ROLE),
    "network.zones": Sample(["us-east-1a", "us-east-1b", "us-east-1c"]),
    "network.cidr": Sample("10.20.0.0/16"),
    "network.podCidr": Sample("100.64.0.0/16"),
    "network.ipv6": Sample(True),
    "network.flowLogs.traffic": Sample("all", {"network": {"flowLogs": {"traffic": "rejected"}}}),
    "network.flowLogs.kmsKeyArn": Sample(_KEY, {"network": {"flowLogs": {"traffic": "rejected"}}}),
    "network.flowLogs.retentionDays": Sample(7, {"network": {"flowLogs": {"traffic": "rejected"}}}),
    "network.natGateways": Sample("per-zone"),
    "network.interfaceEndpoints": Sample(["sts"]),
    "network.endpointPolicies": Sample({"s3": _READ_ONLY}),
    "network.internetAccess": Sample(True, _CLOSED),
    "network.existingEndpoints": Sample(["ec2"], _CLOSED, word="interfaceEndpoints"),
    "network.vpcId": Sample("vpc-1b2c", {**_VPC, **_BALANCERS}),
    "network.privateSubnets": Sample({"us-east-1a": "subnet-a", "us-east-1b": "subnet-c"}, _VPC),
    "network.publicSubnets": Sample({"us-east-1a": "subnet-p"}, _VPC),
    "cluster.version": Sample("1.34"),
    "cluster.kubernetesVersions.*.standardUntil": Sample(
        "2026-12-01", _NEW_VERSION, "1.37", word="ends on 2026-12-01"
    ),
    "cluster.kubernetesVersions.*.extendedUntil": Sample(
        "2027-12-01", _NEW_VERSION, "1.37", word="support ends on 2027-12-01"
    ),
    "cluster.kubernetesVersions.*.amiReleases": Sample({"al2023": "1.37.0-20261201"}, _NEW_VERSION, "1.37"),
    "cluster.kubernetesVersions.*.addons": Sample({"kube-proxy": "v1.37.0-eksbuild.2"}, _NEW_VERSION, "1.37"),
    "cluster.existing": Sample(True),
    "cluster.zones": Sample(["us-east-1a", "us-east-1b"], _THREE),
    "cluster.systemZones": Sample(["us-east-1b"]),
    "cluster.oidcProviderArn": Sample(
        "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
        {"cluster": {"existing": True}},
    ),
    "cluster.publicAccessCidrs": Sample(["198.51.100.0/24"]),
    "cluster.privateAccessCidrs": Sample(["10.9.0.0/16"]),
    "cluster.privateAccessSecurityGroups": Sample({"runners": "sg-0123456789abcdef0"}),
    "cluster.bastion": Sample(True),
    "cluster.tunnelPort": Sample(9443, _BASTION),
    "cluster.adminRoleArns": Sample([_ROLE]),
    "cluster.viewerRoleArns": Sample([_ROLE]),
    "cluster.namespaceAccess.*.adminRoleArns": Sample([_ROLE], entry="team-a"),
    "cluster.namespaceAccess.*.editorRoleArns": Sample([_ROLE], entry="team-a"),
    "cluster.namespaceAccess.*.viewerRoleArns": Sample([_ROLE], entry="team-a"),
    "cluster.creatorIsAdmin": Sample(False, {"cluster": {"adminRoleArns": [_ROLE]}}),
    "cluster.logTypes": Sample(["api"]),
    "cluster.logRetentionDays": Sample(7),
    "cluster.logKmsKeyArn": Sample(_KEY),
    "cluster.imdsHopLimit": Sample(2),
    "cluster.secretsKeyArn": Sample(_KEY),
    "cluster.addons": Sample({"snapshot-controller": ""}),
    "cluster.support": Sample("extended"),
    "cluster.systemInstanceTypes": Sample(["m7i.xlarge"]),
    "cluster.systemNodes": Sample(3),
    "cluster.systemNodesMax": Sample(5),
    "cluster.systemAmiRelease": Sample("latest"),
    "cluster.forceUpdate": Sample(True),
    "cluster.diskKmsKeyArn": Sample(_KEY),
    "cluster.spotServiceLinkedRole": Sample("create", {"gpuNodes": {"provisioner": "karpenter"}}),
    "cluster.volumeKmsKeyArn": Sample(_KEY, {"cluster": {"addons": {"aws-ebs-csi-driver": ""}}}),
    "cluster.nodePolicies": Sample([]),
    "cluster.nodeRoleArn": Sample(_ROLE),
    "cluster.deletionProtection": Sample(True),
    "cluster.serviceCidr": Sample("10.100.0.0/16"),
    # The nodes of the models.
    "gpuNodes.provisioner": Sample("other"),
    "gpuNodes.capacity": Sample("spot"),
    "gpuNodes.image": Sample("bottlerocket"),
    "gpuNodes.amiRelease": Sample("latest"),
    "gpuNodes.forceUpdate": Sample(True),
    "gpuNodes.diskGib": Sample(300),
    "gpuNodes.diskThroughput": Sample(800),
    "gpuNodes.diskIops": Sample(5000),
    "gpuNodes.diskKmsKeyArn": Sample(_KEY),
    "gpuNodes.fastImagePull": Sample(False),
    "gpuNodes.prefixDelegation": Sample(True, {"cluster": {"existing": True}}),
    "gpuNodes.userData": Sample("#!/bin/sh\ntrue\n"),
    "gpuNodes.scaleToZero": Sample(False),
    "gpuNodes.zones": Sample(["us-east-1a"]),
    "gpuNodes.nodeRepair": Sample(True),
    "gpuNodes.imdsHopLimit": Sample(2),
    "gpuNodes.quotas": Sample({"L-DB2E81BA": 1}),
    "gpuNodes.types.*.capacity": Sample("spot"),
    **{
        f"gpuNodes.types.*.nextBlocks[].{key}": Sample(value, _BLOCKS)
        for key, value in (
            ("id", "cr-2123456789abcdef0"),
            ("zone", "us-east-1b"),
            ("count", 3),
            ("starts", "2027-01-09T11:30:00Z"),
            ("ends", "2027-01-16T11:30:00Z"),
        )
    },
    "gpuNodes.types.*.reservation.id": Sample("cr-1123456789abcdef0", _ODCR),
    "gpuNodes.types.*.reservation.zone": Sample("us-east-1b", _ODCR),
    "gpuNodes.types.*.reservation.count": Sample(1, _type(capacity="odcr", reservation=_HELD, minNodes=2)),
    "gpuNodes.types.*.reservation.starts": Sample("2027-01-01T11:30:00Z", _ODCR),
    "gpuNodes.types.*.reservation.ends": Sample("2027-01-08T11:30:00Z", _ODCR),
    "gpuNodes.types.*.zones": Sample(["us-east-1a"]),
    "gpuNodes.types.*.existingGroups": Sample(["gpu"]),
    **{
        f"gpuNodes.types.*.ownedGroups[].{key}": Sample(value, _OWNED)
        for key, value in (
            ("name", "other"),
            ("labels", {"team": "a"}),
            ("taints[].key", "other"),
            ("taints[].value", "other"),
            ("taints[].effect", "NoExecute"),
            ("tags", {"team": "a"}),
            ("launchTemplateVersion", "4"),
            ("update.maxUnavailable", 2),
            ("update.maxUnavailablePercentage", 20),
            ("update.updateStrategy", "MINIMAL"),
            ("version", "1.36"),
            ("releaseVersion", "1.36.0-20261101"),
            ("retain", False),
            ("fixed.subnets", ["subnet-b"]),
            ("fixed.nodeRoleArn", _ROLE),
            ("fixed.capacityType", "SPOT"),
            ("fixed.instanceTypes", [TYPE, "g5.4xlarge"]),
            ("fixed.amiType", "BOTTLEROCKET_x86_64_NVIDIA"),
            ("fixed.diskGib", 50),
            ("fixed.launchTemplateId", "lt-2"),
            ("fixed.sshKey", "operators"),
            ("fixed.sshSecurityGroups", ["sg-1"]),
            ("fixed.size.min", 1),
            ("fixed.size.max", 5),
            ("fixed.size.desired", 3),
            ("fixed.checksum", "-".join(["0123"] * 10)),
        )
    },
    "gpuNodes.types.*.spotTypes": Sample(["g5.4xlarge"]),
    "gpuNodes.types.*.efa": Sample(True, _type(zones=["us-east-1a"])),
    "gpuNodes.types.*.placementGroup": Sample(True, _type(zones=["us-east-1a"])),
    "gpuNodes.types.*.amiId": Sample("ami-0a1b"),
    "gpuNodes.types.*.generation": Sample("b"),
    "gpuNodes.types.*.minNodes": Sample(1),
    "gpuNodes.types.*.maxNodes": Sample(7),
    "gpuNodes.labels": Sample({"team": "a"}),
    "gpuNodes.taints[].key": Sample("other", _TAINTED),
    "gpuNodes.taints[].value": Sample("other", _TAINTED),
    "gpuNodes.taints[].effect": Sample("NoExecute", _TAINTED),
    "gpuNodes.types.*.labels": Sample({"team": "a"}),
    "gpuNodes.types.*.taints[].key": Sample("other", _type(taints=_TAINT)),
    "gpuNodes.types.*.taints[].value": Sample("other", _type(taints=_TAINT)),
    "gpuNodes.types.*.taints[].effect": Sample("NoExecute", _type(taints=_TAINT)),
    "gpuNodes.disruption.consolidationPolicy": Sample("Balanced"),
    "gpuNodes.disruption.consolidateAfter": Sample("1h"),
    "gpuNodes.disruption.budgets[].nodes": Sample("2", _BUDGET),
    "gpuNodes.disruption.budgets[].schedule": Sample("@hourly", _DAILY),
    "gpuNodes.disruption.budgets[].duration": Sample("2h", _DAILY),
    "gpuNodes.disruption.budgets[].reasons": Sample(["Drifted"], _BUDGET),
    "gpuNodes.disruption.spotToSpot": Sample(True),
    "gpuNodes.generalPool.capacity": Sample(["spot"], _GENERAL),
    "gpuNodes.generalPool.categories": Sample(["m"], _GENERAL),
    "gpuNodes.generalPool.arch": Sample("arm64", _GENERAL),
    "gpuNodes.generalPool.maxVcpus": Sample(16, _GENERAL),
}
