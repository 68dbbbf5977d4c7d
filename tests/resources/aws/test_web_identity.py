"""Identities of a cluster without Pod Identity, whose service accounts get roles by their tokens."""

import json

import pytest

from components.clouds.aws.facts.iam import controllers
from tests.resources.aws.test_identities import ASSOCIATION, NAMED, ROLE, identities, karpenter, refused


class TestWithoutPodIdentity:
    """A cluster whose service accounts get roles by their tokens. Source: EKS User Guide, IRSA."""

    ISSUER = "oidc.eks.us-east-1.amazonaws.com/id/ABCDEF0123456789"
    PROVIDER = f"arn:aws:iam::123456789012:oidc-provider/{ISSUER}"

    @pytest.mark.parametrize("preview", [False, True])
    def test_roles_and_policies_are_the_same_and_nothing_is_associated(self, preview: bool) -> None:
        args = karpenter(controllers=list(controllers()), **NAMED)
        with_agent = identities(**args, preview=preview)
        without = identities(**args, oidc_provider_arn=self.PROVIDER, preview=preview)
        assert not without.of(ASSOCIATION)
        assert {entry.key for entry in without.graph} == {
            entry.key for entry in with_agent.graph if entry.type != ASSOCIATION
        }

    def test_a_role_trusts_the_tokens_of_its_service_accounts_alone(self) -> None:
        graph = identities(
            model_buckets=["models"],
            model_service_accounts=["a/loader", "b/loader"],
            oidc_provider_arn=self.PROVIDER,
        )
        (statement,) = json.loads(graph[f"{ROLE}::ids-model-loader"].inputs["assumeRolePolicy"])["Statement"]
        assert statement == {
            "Effect": "Allow",
            "Principal": {"Federated": self.PROVIDER},
            "Action": ["sts:AssumeRoleWithWebIdentity"],
            "Condition": {
                "StringEquals": {
                    f"{self.ISSUER}:aud": "sts.amazonaws.com",
                    f"{self.ISSUER}:sub": ["system:serviceaccount:a:loader", "system:serviceaccount:b:loader"],
                }
            },
        }

    @pytest.mark.parametrize("arn", ["", "arn:aws:iam::123456789012:role/a", f"https://{ISSUER}", f"{PROVIDER}\n"])
    def test_what_is_no_provider(self, arn: str) -> None:
        found = refused(controllers=["ebs-csi"], oidc_provider_arn=arn)
        assert "must be the ARN of the cluster's IAM OIDC provider" in found["oidc_provider_arn"][0]
