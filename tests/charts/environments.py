"""The shipped environments as a program registers them, each run once."""

import datetime
import functools
import hashlib
from typing import Any

import pytest
from pulumi.runtime import mocks

from stacks.environment import FLEET
from tests.recorded import Recorded
from tests.resources.aws.aws_mock import Aws
from tests.resources.prerequisites.test_components import RELEASE
from tests.stacks.shipped import ON_AWS, ROOT, Clock, run, settings_of

Object = dict[str, Any]
WITH_KEDA = "staging with keda"
"""Every environment that is shipped has the adapter."""
WITH_CLIENTS = "prod with clients"
"""None of those that are shipped names the clients of its gateway, or limits them."""
ENVIRONMENTS = (*ON_AWS, WITH_KEDA, WITH_CLIENTS)
_BUILT_IN = ("v1", "apps/v1", "autoscaling/v2", "batch/v1", "policy/v1")
_BUILT_IN_GROUPS = ("networking.k8s.io", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io")


class _WithIds(Aws):
    """Gives subnets ids as AWS does: kinds are particular about them."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if args.typ == "aws:ec2/subnet:Subnet":
            id_ = f"subnet-{hashlib.sha256(args.name.encode()).hexdigest()[:17]}"
        return id_, {**outputs, "id": id_}


@functools.cache
def environment(name: str) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(datetime, "datetime", Clock)
        if name == WITH_CLIENTS:
            door = settings_of("prod")["frontDoor"]
            limit = {"requests": 100, "tokens": 100000, "unit": "hour", "redis": "redis.redis.svc:6379"}
            return run("prod", _WithIds(), frontDoor={**door, "clientCidrs": ["198.51.100.0/24"], "rateLimit": limit})
        if name != WITH_KEDA:
            return run(name, _WithIds())
        said = settings_of("staging")["prerequisites"]
        return run("staging", _WithIds(), prerequisites={**said, "adapter": "keda"})


def releases(name: str) -> dict[str, Object]:
    """What helm is given, by chart."""
    found = environment(name).of(RELEASE)
    return {entry.name.removeprefix(f"{FLEET}-"): dict(entry.inputs.get("values", {})) for entry in found}


def custom_objects(name: str) -> list[Object]:
    """What is of no kind that Kubernetes has itself; charts have kinds of their own inside."""
    registered = [dict(entry.inputs) for entry in environment(name).graph]
    objects = [body for body in registered if "apiVersion" in body and "kind" in body]
    return [body for body in objects if body["apiVersion"] not in _BUILT_IN and _group(body) not in _BUILT_IN_GROUPS]


def _group(body: Object) -> str:
    return str(body["apiVersion"]).partition("/")[0]
