"""Every policy of any environment grants what it says."""

import datetime
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pulumi.runtime import mocks

from tests.clouds.aws.models.authorization import text_problems
from tests.clouds.aws.requests.kinds import is_aws
from tests.clouds.aws.requests.plan import reveal
from tests.recorded import Recorded
from tests.resources.aws.aws_mock import Aws
from tests.stacks.destroy.test_destroy_order import environments
from tests.stacks.shipped import ROOT, Clock, run


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datetime, "datetime", Clock)


ARNS = {
    "aws:cloudwatch/logGroup:LogGroup": "arn:aws:logs:us-east-1:123456789012:log-group:{}",
    "aws:iam/role:Role": "arn:aws:iam::123456789012:role/{}",
    "aws:sqs/queue:Queue": "arn:aws:sqs:us-east-1:123456789012:{}",
}
"""The form of what policies name and only AWS knows."""


class Named(Aws):
    """What AWS would answer, with ARNs of their true form."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        return id_, {**outputs, "arn": ARNS[args.typ].format(args.name)} if args.typ in ARNS else outputs


def granted(graph: Recorded) -> Iterator[tuple[str, Any]]:
    return ((entry.key, reveal(entry.inputs)) for entry in graph.graph if is_aws(entry.type))


@given(environments())
@settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example takes seconds, and is told in full
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_in_any_environment(environment: dict[str, Any]) -> None:
    inputs = dict(granted(run("dev", Named(), **environment)))
    assert {key: found for key, each in inputs.items() if (found := list(text_problems(each)))} == {}
    written = [value for each in inputs.values() for value in each.values() if '"Statement"' in str(value)]
    # The roles of cluster, nodes and network plugin at least.
    assert len(written) >= 3
    assert all(json.loads(text) for text in written)
