"""Deletions of data are refused; those of caches and namespaces are warnings."""

from typing import Any

import pytest

from components.contract.findings.ids import RuleId
from components.plan.review.compare import review
from components.plan.review.resources import compare_resources
from components.plan.review.snapshot import RegisteredResource, Snapshot
from tests.plan.review.revisions import cloud, resource
from workbench.planning.formats.text import text

EFS, FSX, LOGS = (
    cloud("aws:efs/fileSystem:FileSystem", "storage-efs", {"encrypted": True}),
    cloud("aws:fsx/lustreFileSystem:LustreFileSystem", "storage-fsx", {"storageCapacity": 1200}),
    cloud("aws:cloudwatch/logGroup:LogGroup", "flow-logs", {"name": "/aws/vpc/a/flow-logs"}),
)
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
DATA, CONTENTS = RuleId.CHANGE_DELETES_DATA, RuleId.CHANGE_DELETES_CONTENTS


def claim(spec: dict[str, Any], component: str = "") -> RegisteredResource:
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "notes", "namespace": "ml"},
        "spec": {"accessModes": ["ReadWriteOnce"], **spec},
    }
    found = resource(body)
    parents = f"inference-platform:index:ModelFleet${component}$" if component else ""
    urn = found.urn.replace("kubernetes:", f"{parents}kubernetes:", 1)
    return RegisteredResource(urn=urn, type=found.type, title=found.title, inputs=found.inputs)


def rules(gone: RegisteredResource, *rest: RegisteredResource) -> list[RuleId]:
    return [change.rule for change in compare_resources([gone, *rest], [*rest], {}, {}).refused]


@pytest.mark.parametrize(
    ("gone", "rule"),
    [
        (EFS, CONTENTS),
        (FSX, CONTENTS),
        (LOGS, DATA),
        (claim({}), DATA),
        (claim({}, "inference-platform:index:OtherObjects"), DATA),
        (claim({}, "inference-platform:index:InferenceService"), CONTENTS),
        (cloud("kubernetes:core/v1:Namespace", "ml", NAMESPACE), CONTENTS),
    ],
)
def test_what_is_lost(gone: RegisteredResource, rule: RuleId) -> None:
    assert rules(gone) == [rule]


@pytest.mark.parametrize(
    "gone",
    [
        claim({"volumeName": "theirs"}),
        claim({"storageClassName": ""}),
        cloud("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "quay", {}),
        cloud("aws:route53/record:Record", "model", {}),
        resource({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "ml"}}),
    ],
)
def test_what_has_no_data_of_its_own(gone: RegisteredResource) -> None:
    """Volumes that somebody created outlive their claims, and ECR keeps the images of a rule."""
    assert rules(gone) == []


def test_a_replaced_file_system_is_empty() -> None:
    other = cloud("aws:efs/fileSystem:FileSystem", "storage-efs", {"encrypted": True, "kmsKeyId": "arn"})
    assert [change.rule for change in compare_resources([EFS], [other], {}, {}).refused] == [CONTENTS]


def test_a_change_of_throughput_keeps_the_data_and_says_how_long_reads_wait() -> None:
    def with_throughput(number: int) -> RegisteredResource:
        return cloud(FSX.type, "storage-fsx", {"perUnitStorageThroughput": number, "tags": {"number": number}})

    (changed,) = compare_resources([with_throughput(500)], [with_throughput(125)], {}, {}).changes
    assert "unavailable for up to an hour" in changed.note
    tagged = cloud(FSX.type, "storage-fsx", {"perUnitStorageThroughput": 500, "tags": {}})
    (changed,) = compare_resources([with_throughput(500)], [tagged], {}, {}).changes
    assert changed.note == ""


def test_what_is_retained_is_not_lost() -> None:
    kept = RegisteredResource(urn=LOGS.urn, type=LOGS.type, title=LOGS.title, inputs=LOGS.inputs, retained=True)
    assert rules(kept) == []


def test_the_first_line_says_so_and_data_must_not_be_deployed() -> None:
    def shown(gone: RegisteredResource, **ignored: str) -> str:
        head = Snapshot("dev", ignore=dict(ignored))
        return " ".join(text(review(head, Snapshot("dev", resources=(gone,)))).split())

    assert shown(EFS).startswith("dev: a cache or namespace is deleted with its contents, 1 to delete")
    assert shown(LOGS).startswith("dev: must not be deployed: 1 change deletes data, 1 to delete")
    assert "must not be deployed" not in shown(LOGS, **{str(DATA): "exported"}), "as the message advises"
