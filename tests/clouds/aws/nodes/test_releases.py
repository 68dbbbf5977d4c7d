"""Releases of images: pinned by Kubernetes version, in the words of EKS and of Karpenter."""

import pytest

from components.clouds.aws.facts.eks import addons, versions
from components.clouds.aws.facts.releases import addon_release
from components.clouds.aws.nodes.releases import eks_release, karpenter_release, release_problem
from components.clouds.aws.words import NodeImage, Provisioner
from components.fleet.nodes.policy import TypePolicy
from tests.clouds.aws.environments import environment, flavor, one, planned, problems

AL2023, BOTTLEROCKET = NodeImage.AL2023, NodeImage.BOTTLEROCKET


@pytest.mark.parametrize(
    ("version", "expected"),
    [  # awslabs/amazon-eks-ami, CHANGELOG.md, AMI Release v20260714
        ("1.30", "1.30.14-20260714"),
        ("1.33", "1.33.13-20260714"),
        ("1.35", "1.35.6-20260714"),
        ("1.36", "1.36.2-20260714"),
    ],
)
def test_pinned_by_version(version: str, expected: str) -> None:
    assert eks_release(AL2023, version) == expected
    assert karpenter_release(AL2023, version) == "v20260714"


@pytest.mark.parametrize("version", versions())
def test_every_known_version_has_a_release_and_its_addons_too(version: str) -> None:
    release = eks_release(AL2023, version)
    assert release.startswith(f"{version}.")
    assert not release_problem(AL2023, version, Provisioner.MANAGED, release)
    pinned = {name: addon_release(name, version) for name, addon in addons().items() if addon.always}
    assert all(found.startswith("v") for found in pinned.values()), pinned
    assert pinned["kube-proxy"].startswith(f"v{version}.")


@pytest.mark.parametrize(
    ("image", "version", "asked", "eks", "karpenter"),
    [
        (BOTTLEROCKET, "1.35", "", "1.66.0-1ad6b4a4", "v1.66.0"),
        (BOTTLEROCKET, "1.33", "", "", "latest"),  # none is known
        (AL2023, "", "", "", "v20260714"),
        (AL2023, "1.35", "latest", "", "latest"),
        (AL2023, "1.35", "1.35.7-20260801", "1.35.7-20260801", "v20260801"),
    ],
)
def test_what_is_asked_for(image: NodeImage, version: str, asked: str, eks: str, karpenter: str) -> None:
    assert eks_release(image, version, asked) == eks
    assert karpenter_release(image, version, asked) == karpenter


@pytest.mark.parametrize(
    ("provisioner", "image", "asked", "expected"),
    [
        ("managed", AL2023, "v20260714", "must be latest, or a release of al2023 such as 1.35.6-20260714, found 'v2"),
        ("managed", BOTTLEROCKET, "1.66.0", "must be latest, or a release of bottlerocket such as 1.66.0-1ad6b4a4"),
        ("managed", AL2023, "1.34.9-20260714", "is for Kubernetes 1.34, but the cluster has 1.35"),
        ("karpenter", AL2023, "newest", "such as 1.35.6-20260714 or v20260714, found 'newest'"),
        ("karpenter", AL2023, "v20260714", ""),
        ("karpenter", BOTTLEROCKET, "1.66.0", ""),
        ("managed", AL2023, "1.35.7-20260801", ""),
        ("managed", AL2023, "latest", ""),
    ],
)
def test_what_is_refused(provisioner: str, image: NodeImage, asked: str, expected: str) -> None:
    where = environment(provisioner=Provisioner(provisioner), image=image, ami_release=asked)
    found = [problem for problem in problems(one(flavor("g5.xlarge")), where) if problem.path.endswith("amiRelease")]
    assert [problem.path for problem in found] == ["gpuNodes.amiRelease"] * bool(expected)
    assert all(expected in problem.reason for problem in found)


class TestPlan:
    def test_a_new_version_brings_its_release_and_keeps_the_group(self) -> None:
        (before,) = planned(one(flavor("g5.xlarge")), environment(version="1.34"))
        (after,) = planned(one(flavor("g5.xlarge")), environment(version="1.35"))
        assert (before.release, after.release) == ("1.34.9-20260714", "1.35.6-20260714")
        assert before.id == after.id

    def test_an_image_of_ones_own_has_none(self) -> None:
        where = environment(types={"g5.xlarge": TypePolicy(ami_id="ami-0abc")})
        (plan,) = planned(one(flavor("g5.xlarge")), where)
        assert plan.release == ""

    def test_karpenter_waits_for_disruption_budgets(self) -> None:
        where = environment(provisioner=Provisioner.KARPENTER, force_update=True)
        (problem,) = problems(one(flavor("g5.xlarge")), where)
        assert problem.path == "gpuNodes.forceUpdate"
        assert "has no effect with Karpenter" in problem.reason
