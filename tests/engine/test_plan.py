"""Plans from the state alone: what is created, pending, renamed, ignored."""

import pulumi

from tests.engine.support import Stack, config_map
from workbench.engine.values import UNKNOWN


def test_first_preview_creates_everything_below_its_parents(offline: Stack) -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions(provider=offline.provider())
        parent = pulumi.ComponentResource("proj:index:Thing", "thing", {}, opts)
        config_map("inner", pulumi.ResourceOptions(parent=parent, provider=opts.provider))

    outcome = offline.preview(program)
    lines = offline.screen.splitlines()
    thing = next(line for line in lines if "proj:index:Thing" in line)
    inner = next(line for line in lines if "ConfigMap" in line)

    # The component is not counted: it is in no cluster.
    assert outcome.changed == 2
    assert "create" in inner
    assert inner.index("kubernetes:") > thing.index("proj:")
    assert "dev: 2 to create" in lines


def test_nothing_at_all_says_zero_changes(offline: Stack) -> None:
    offline.preview(lambda: None)
    assert ": no changes" in offline.screen


def test_other_clouds_are_planned_only_and_what_waits_for_them_is_pending(offline: Stack) -> None:
    seen: dict[str, bool] = {}

    def program() -> None:
        aws = pulumi.ProviderResource("aws", "cloud", {"region": "eu-west-1"})
        bucket = pulumi.CustomResource(
            "aws:s3/bucket:Bucket", "b", {"bucket": "x", "arn": None}, pulumi.ResourceOptions(provider=aws)
        )
        provider = offline.provider()
        opts = pulumi.ResourceOptions(provider=provider)
        config_map("by-value", opts, arn=bucket.id)
        config_map("by-order", pulumi.ResourceOptions(provider=provider, depends_on=[bucket]))
        config_map("free", pulumi.ResourceOptions(provider=provider))
        pulumi.export("bucket", bucket.id)
        bucket.id.apply(lambda _: seen.update(called=True))

    outcome = offline.run("preview", program)
    pending = {line.split()[-1] for line in offline.screen.splitlines() if line.startswith(" ?")}
    rows = {line.split()[3]: line for line in offline.screen.splitlines() if "ConfigMap" in line}

    assert pending
    assert "pending" in rows["by-value"]
    assert "pending" in rows["by-order"]
    assert "create" in rows["free"]
    assert outcome.outputs == {"bucket": UNKNOWN}
    assert seen == {}
    assert "4 planned only (not deployed by the local engine)" in offline.screen


def test_kubernetes_objects_of_an_unknown_cluster_are_pending(offline: Stack) -> None:
    def program() -> None:
        aws = pulumi.ProviderResource("aws", "cloud", {})
        cluster = pulumi.CustomResource("aws:eks/cluster:Cluster", "c", {}, pulumi.ResourceOptions(provider=aws))
        provider = pulumi.ProviderResource("kubernetes", "eks", {"kubeconfig": cluster.id})
        config_map("there", pulumi.ResourceOptions(provider=provider))

    offline.preview(program)
    row = next(line for line in offline.screen.splitlines() if "ConfigMap" in line)
    assert "pending" in row
    assert "waits for eks" in row
