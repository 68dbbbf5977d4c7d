"""An AWS account in memory in which a Pulumi program is really carried out, by moto."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, Self
from unittest import mock

import boto3  # type: ignore[import-untyped]
import jmespath  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]
from moto import mock_aws
from pulumi.runtime import mocks, rpc

from tests.clouds.aws.requests.kinds import check_plan, is_aws, plan_of
from tests.clouds.aws.requests.plan import ACCOUNT, From, Lookup, Plan, Request, Text

UNSUPPORTED: Mapping[str, str] = {
    "aws:ec2/placementGroup:PlacementGroup": "moto has no CreatePlacementGroup",
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": "moto has no CreatePullThroughCacheRule",
    "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate": "moto has no CreateRepositoryCreationTemplate",
    "aws:eks/accessEntry:AccessEntry": "moto has no CreateAccessEntry",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": "moto has no AssociateAccessPolicy",
    "aws:eks/addon:Addon": "moto has no CreateAddon",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": "moto has no CreatePodIdentityAssociation",
}
"""Types that are only checked, by the models and by whether there is what they refer to."""

_GONE = re.compile(r"NotFound|NoSuchEntity|NonExistent|does not exist|ResourceNotFound")
_NO_SETTINGS = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
"""Nothing of the user's own; moto adds credentials that are none."""


@dataclass(frozen=True)
class Created:
    """One resource that is there, or would be if moto had got its type."""

    type: str
    name: str
    """Logical name."""
    id: str
    outputs: Mapping[str, Any]
    plan: Plan = field(repr=False)
    answers: "_Answers" = field(repr=False)

    @property
    def key(self) -> str:
        return f"{self.type}::{self.name}"


class NotSupportedError(Exception):
    """moto has not got an operation."""


class _RefusedError(Exception):
    """AWS would not have taken the request, though moto would."""


# moto raises Python's NotImplementedError for operations that it does not know, and a ClientError with this text for
# most others that it does not emulate.
_REFUSALS = (NotImplementedError, ClientError)
_NOT_EMULATED = "Not yet implemented"


def _is_not_emulated(error: Exception) -> bool:
    """Tell what moto does not emulate, which UNSUPPORTED lists, from what AWS would refuse."""
    return isinstance(error, NotImplementedError) or _NOT_EMULATED in str(error)


class MotoCloud(mocks.Mocks):
    """Checks and carries out each AWS resource that is registered; all others echo their inputs.

    Use it as a context manager, or ``close`` it: moto replaces the transport of boto3 in the whole process, whatever
    the thread. There is one such account at a time; a new one ends the one before.
    """

    _open: ClassVar["MotoCloud | None"] = None

    def __init__(self, region: str) -> None:
        if MotoCloud._open:
            MotoCloud._open.close()
        self.region = region
        self.problems: list[str] = []
        """What AWS would refuse, by resource."""
        self.created: list[Created] = []
        """In the order of creation."""
        self.unsupported: dict[str, str] = {}
        """What came up of ``UNSUPPORTED``, with the reason."""
        self._absent: set[str] = set()
        """Ids of what could not be made: of what depends on it only the request is checked."""
        self._clients: dict[tuple[str, bool], Any] = {}
        self._environment = mock.patch.dict(os.environ, _NO_SETTINGS)
        self._environment.start()
        os.environ.pop("AWS_PROFILE", None)
        self._moto = mock_aws(config={"iam": {"load_aws_managed_policies": True}})
        self._moto.start()
        MotoCloud._open = self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget everything, and give boto3 its transport back."""
        if MotoCloud._open is self:
            MotoCloud._open = None
            self._moto.stop()
            self._environment.stop()

    def client(self, service: str) -> Any:
        """Return a client of this account, to look at what is there."""
        return self._client(service)

    def send(self, request: Request) -> Mapping[str, Any]:
        """Send one request.

        Raises:
            NotSupportedError: moto has not got the operation.
        """
        return self._send(request, _Answers(self.region))

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"invoke of {args.token}: everything must preview offline")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.resource_id:
            return args.resource_id, {**args.inputs, **self._read(args.typ, args.resource_id)}
        if not is_aws(args.typ):
            return f"{args.name}-id", args.inputs
        inputs = plain_inputs(args.inputs)
        plan = plan_of(args.typ, inputs, args.name)
        found = check_plan(args.typ, inputs, plan)
        try:
            self._require(plan, inputs)
            made = self._perform(args.typ, args.name, plan, checked=not found)
        except NotSupportedError:
            raise
        except Exception as error:
            # What is wrong already may break anything; what seemed right can only be refused.
            if not found and not isinstance(error, ClientError | _RefusedError):
                raise
            found += [f"{args.typ}: {error}"] if str(error) and not found else []
            made = self._stand_in(args.typ, args.name, plan)
        else:
            self.created.append(made)
        self.problems += [f"{args.name}: {problem}" for problem in found]
        return made.id, {**args.inputs, **made.outputs}

    def _require(self, plan: Plan, inputs: Mapping[str, Any]) -> None:
        if self._absent & set(_texts(inputs)):
            raise _RefusedError  # silently: what went wrong with the other resource is told already
        for needed in plan.needs:
            if not self._there(needed, _Answers(self.region)):
                raise _RefusedError(f"{needed.request.operation} finds no {dict(needed.request.params)}")
        for refused, why in plan.refused_if:
            if self._there(refused, _Answers(self.region)):
                raise _RefusedError(why)

    def _perform(self, type_: str, name: str, plan: Plan, *, checked: bool) -> Created:
        """Carry a plan out; a wrong one unchecked, so that the rest of the program may have what it refers to."""
        answers = _Answers(self.region)
        if type_ in UNSUPPORTED:
            self.unsupported[type_] = UNSUPPORTED[type_]
            return _created(type_, name, plan, answers.with_answer(plan.answer, plan.id))
        answers = answers.with_answer(self._send(plan.create, answers, checked=checked), plan.id)
        for request in (*plan.then, *plan.by_itself):
            answers.values["then"].append(self._send(request, answers, checked=checked))
        made = _created(type_, name, plan, answers)
        assert self.exists(made), f"{made.key} was made and is not found"
        return made

    def _stand_in(self, type_: str, name: str, plan: Plan) -> Created:
        """Return something for the rest of the program to go on with."""
        absent = f"absent-{name}"
        self._absent.add(absent)
        return _created(type_, name, plan, _Answers(self.region, absent, missing=absent))

    def exists(self, made: Created) -> bool:
        """Whether a resource is there; what moto has not got is there until all is destroyed."""
        return made in self.created if made.type in UNSUPPORTED else self._there(made.plan.find, made.answers)

    def destroy(self) -> list[str]:
        """Delete everything, the last first, and return what is left of it and what was refused."""
        refused = []
        self.created = [made for made in self.created if made.type not in UNSUPPORTED]
        for made in reversed(self.created):
            for request in made.plan.delete:
                try:
                    self._send(request, made.answers)
                except ClientError as error:
                    refused.append(f"{made.key}: {error}")
        self.created = [made for made in self.created if self.exists(made)]
        return [*refused, *(f"{made.key}: is still there" for made in self.created)]

    def _read(self, type_: str, id_: str) -> Mapping[str, Any]:
        """Return the outputs of something that was created here and is now looked up by its id."""
        for made in self.created:
            if (made.type, made.id) == (type_, id_) and self.exists(made):
                return made.outputs
        if not is_aws(type_):
            return {}
        raise AssertionError(f"{type_} {id_} is looked up and is not there")

    def _there(self, looked_for: Lookup, answers: "_Answers") -> bool:
        try:
            return bool(jmespath.search(looked_for.path, self._send(looked_for.request, answers)))
        except ClientError as error:
            if _GONE.search(str(error)):
                return False
            raise

    def _send(self, request: Request, answers: "_Answers", *, checked: bool = True) -> Mapping[str, Any]:
        client = self._client(request.service, checked=checked)
        try:
            answer = client._make_api_call(request.operation, answers.fill(dict(request.params)))
        except _REFUSALS as error:
            if _is_not_emulated(error):
                raise NotSupportedError(f"{request.service} {request.operation}") from error
            raise
        return {name: value for name, value in answer.items() if name != "ResponseMetadata"}

    def _client(self, service: str, *, checked: bool = True) -> Any:
        """Return a client; one that is not ``checked`` sends also what botocore knows to be wrong."""
        if (service, checked) not in self._clients:
            config = Config(parameter_validation=checked, retries={"max_attempts": 0})
            self._clients[service, checked] = boto3.client(service, region_name=self.region, config=config)
        return self._clients[service, checked]


@dataclass(frozen=True)
class _Answers:
    """What is known of a resource, to fill in its other requests and its outputs."""

    region: str
    id: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    missing: str | None = None
    """What stands for every answer, where there is none."""

    def with_answer(self, answer: Mapping[str, Any], id_: Any) -> "_Answers":
        values = {**answer, "then": []}
        return replace(self, values=values, id=str(replace(self, values=values).fill(id_)))

    def fill(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self.fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, Text):
            where = {"region": self.region, "account": ACCOUNT, "partition": _partition(self.region)}
            return value.template.format(id=self.id, **where)
        if not isinstance(value, From):
            return value
        found = jmespath.search(value.path, self.values) if self.missing is None else self.missing
        assert found is not None, f"{value.path} is not in the answer {self.values}"
        return found.isoformat() if isinstance(found, datetime) else found


def _created(type_: str, name: str, plan: Plan, answers: _Answers) -> Created:
    outputs = {output: answers.fill(value) for output, value in plan.outputs.items()}
    return Created(type_, name, answers.id, outputs, plan, answers)


@cache
def _partition(region: str) -> str:
    return str(boto3.Session().get_partition_for_region(region))


def plain_inputs(value: Any) -> Any:
    """Return inputs as mocks see them with whole numbers as ints, and secrets opened."""
    if rpc.is_rpc_secret(value):
        return plain_inputs(rpc.unwrap_rpc_secret(value))
    if isinstance(value, dict):
        return {key: plain_inputs(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain_inputs(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for inner in value.values() for text in _texts(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _texts(inner))
