"""The component of a pull-through cache: exact graphs, rights, and what it refuses."""

import json
from typing import Any

import pulumi
import pytest

from components import ImageCache
from components.resources.serving.arguments import InvalidArguments
from tests.clouds.aws.models.authorization import text_problems
from tests.clouds.aws.requests.kinds import check_entry, is_aws
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws, Planned

RULE = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
TEMPLATE = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
ROLE, POLICY = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/hub-AbCdEf"
KEY = "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
BASE: dict[str, Any] = {
    "account": "123456789012",
    "region": "us-east-1",
    "registries": ["docker.io", "quay.io"],
    "credentials": {"docker.io": SECRET},
    "node_roles": {"nodes": "node-role"},
}
REPOSITORIES = [f"arn:aws:ecr:us-east-1:123456789012:repository/{prefix}/*" for prefix in ("docker-hub", "quay")]


def made(*, preview: bool = False, without: tuple[str, ...] = (), **changes: Any) -> Recorded:
    args = {key: value for key, value in {**BASE, **changes}.items() if key not in without}

    def program() -> None:
        cache = ImageCache("images", args)  # type: ignore[arg-type]
        pulumi.export("registry", cache.registry)
        pulumi.export("nodePolicy", cache.node_policy)

    return deploy(program, preview=preview, mock=Planned() if preview else Aws())


def of_type(graph: Recorded, type_: str) -> dict[str, Any]:
    return {entry.name: entry.inputs for entry in graph.graph if entry.type == type_}


@pytest.mark.parametrize("preview", [False, True])
def test_each_registry_has_a_rule_and_a_template(preview: bool) -> None:
    graph = made(preview=preview)
    assert of_type(graph, RULE) == {
        "images-docker-hub": {
            "ecrRepositoryPrefix": "docker-hub",
            "upstreamRegistryUrl": "registry-1.docker.io",
            "credentialArn": SECRET,
        },
        "images-quay": {"ecrRepositoryPrefix": "quay", "upstreamRegistryUrl": "quay.io"},
    }
    assert of_type(graph, TEMPLATE)["images-quay"] == {
        "prefix": "quay",
        "description": "Images of quay.io",
        "appliedFors": ["PULL_THROUGH_CACHE"],
        "imageTagMutability": "MUTABLE",
        "encryptionConfigurations": [{"encryptionType": "AES256"}],
    }
    # Without tags and a key ECR needs no role of ours.
    assert of_type(graph, ROLE) == {}
    for entry in graph.graph:
        assert check_entry(entry.type, entry.inputs, entry.name) == [], entry.name


def test_a_repository_is_never_made_without_its_template() -> None:
    rules = [entry for entry in made().graph if entry.type == RULE]
    assert all(f"{TEMPLATE}::{rule.name}" in rule.dependencies for rule in rules)


def test_nodes_may_fill_the_cache_and_nothing_else() -> None:
    graph = made()
    (policy,) = of_type(graph, POLICY).values()
    assert policy["role"] == "node-role"
    assert json.loads(policy["policy"])["Statement"] == [
        {
            "Sid": "CacheImages",
            "Effect": "Allow",
            "Action": ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"],
            "Resource": REPOSITORIES,
        }
    ]
    assert graph.exports["nodePolicy"] == policy["policy"]
    assert graph.exports["registry"] == "123456789012.dkr.ecr.us-east-1.amazonaws.com"
    assert list(text_problems(policy["policy"])) == []


def test_tags_and_a_key_need_a_role_of_ecr_and_the_right_to_tag() -> None:
    graph = made(tags={"team": "ml"}, kms_key_arn=KEY, keep_images=50)
    (role,) = of_type(graph, ROLE).values()
    assert json.loads(role["assumeRolePolicy"])["Statement"][0]["Principal"] == {"Service": "ecr.amazonaws.com"}
    policies = of_type(graph, POLICY)
    assert [s["Action"] for s in json.loads(policies["images-repositories"]["policy"])["Statement"]] == [
        ["ecr:CreateRepository", "ecr:TagResource"],
        ["kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"],
    ]
    assert json.loads(policies["images-repositories"]["policy"])["Statement"][1]["Resource"] == [KEY]
    assert "ecr:TagResource" in json.loads(policies["images-nodes"]["policy"])["Statement"][0]["Action"]
    template = of_type(graph, TEMPLATE)["images-docker-hub"]
    assert template["resourceTags"] == {"team": "ml"}
    assert template["encryptionConfigurations"] == [{"encryptionType": "KMS", "kmsKey": KEY}]
    (rule,) = json.loads(template["lifecyclePolicy"])["rules"]
    assert rule["selection"] == {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 50}
    for name, policy in policies.items():
        assert list(text_problems(policy["policy"])) == [], name


def test_of_rules_that_exist_only_the_rights_are_made() -> None:
    graph = made(existing=True, without=("credentials",))
    assert {entry.type for entry in graph.graph if is_aws(entry.type)} == {POLICY}
    (policy,) = of_type(graph, POLICY).values()
    assert "ecr:TagResource" in policy["policy"], "whether their repositories get tags is not known"


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"registries": ["quay.io", "nvcr.io"]}, "registries[1]", "ECR cannot cache 'nvcr.io'"),
        ({"registries": ["docker.io", "ghcr.io"]}, "credentials", "must contain a secret for ghcr.io"),
        ({"registries": ["quay.io"]}, "credentials[docker.io]", "is not among registries"),
        ({"credentials": {"docker.io": "hunter2"}}, "credentials[docker.io]", "must be the ARN of a secret"),
        ({"region": "cn-north-1"}, "region", "no pull-through cache"),
        ({"account": "12"}, "account", "12 digits"),
        ({"keep_images": 0}, "keep_images", "between 1 and 100000"),
    ],
)
def test_what_it_refuses(changes: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        made(**changes)
    found = {error["property_path"]: error["reason"] for error in raised.value.errors or []}
    assert said in found[path]
    assert "hunter2" not in str(raised.value)
