"""The rules of llmaz and LeaderWorkerSet that span fields: each checked here and by the API server (CEL).

Messages are the same in both places; only ours can add what was found. Sources: llmaz spec 1 and 7,
LWS spec 1.2.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .base import INT32_MAX, Broken, Json, Rule
from .names import is_dns1035_label, is_dns1123_label, is_dns1123_subdomain, is_label_value
from .quantity import is_quantity, parse_quantity

_SCHEMES = ("oss", "ollama", "host", "s3", "gcs")
_OSS = re.compile(r"[^./]+\.[^/]+/(?s:.+)\Z")
_BUCKET = re.compile(r"[^/]+/(?s:.+)\Z")
_PERCENT = re.compile(r"(100|[0-9]{1,2})%\Z", re.ASCII)

# -- names


def _name_rule(message: str, good: Callable[[str], bool], cel: str) -> Rule:
    def broken(resource: Json) -> Iterator[Broken]:
        if not good(resource.metadata.name):
            yield ("metadata", "name"), f", found {resource.metadata.name!r}"

    return Rule(f"metadata.name {message}", broken, cel)


MODEL_NAME = _name_rule(
    "must be a DNS-1123 label: at most 63 lower-case letters, digits and '-', no dots",
    is_dns1123_label,
    "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
)
WORKLOAD_NAME = _name_rule(
    "must be a DNS-1035 label of at most 60 characters (lower-case letters, digits and '-', a letter first): "
    "it names a LeaderWorkerSet and, with '-lb', a Service",
    lambda name: is_dns1035_label(name) and len(name) <= 60,
    "self.metadata.name.size() <= 60 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
)
RUNTIME_NAME = _name_rule(
    "must be a DNS-1123 subdomain: at most 253 lower-case letters, digits, '-' and '.'",
    is_dns1123_subdomain,
    "",  # what the API server asks of every custom resource
)
OBJECT_NAME = RUNTIME_NAME
"""What the API server asks of every custom resource, and all that some kinds ask."""
LWS_NAME = _name_rule(
    "must be a DNS-1035 label: at most 63 lower-case letters, digits and '-', a letter first",
    is_dns1035_label,
    "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
)

# -- OpenModel


def _family_broken(spec: Json) -> Iterator[Broken]:
    if not is_label_value(spec.family_name):
        yield ("familyName",), f", found {spec.family_name!r}"


FAMILY_NAME = Rule(
    "familyName must be a label value (at most 63 letters, digits, '-', '_', '.'): it becomes a pod label",
    _family_broken,
    "self.familyName.size() <= 63 && self.familyName.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",
)


def _no_source(source: Json) -> Iterator[Broken]:
    if source.model_hub is None and source.uri is None:
        yield (), ""


def _bad_uri(source: Json) -> Iterator[Broken]:
    if source.uri is not None and not is_model_uri(source.uri):
        yield ("uri",), f", found {source.uri!r}"


def is_model_uri(uri: str) -> bool:
    """Tell whether a model URI is well-formed (llmaz spec 1.1)."""
    scheme, separator, address = uri.partition("://")
    if not separator or "://" in address or not address:
        return False
    match _ascii_lower(scheme):
        case "oss":
            return _OSS.match(address) is not None
        case "s3" | "gcs":
            return _BUCKET.match(address) is not None
        case "host":
            return address.startswith("/")
        case other:
            return other in _SCHEMES


def _ascii_lower(text: str) -> str:
    return text.lower() if text.isascii() else text


SOURCE = Rule(
    "set modelHub or uri: a model has to come from somewhere",
    _no_source,
    "has(self.modelHub) || has(self.uri)",
)
URI = Rule(
    "uri must be oss://<bucket>.<endpoint>/<path>, host:///<path>, ollama://<model>, s3://<bucket>/<path> "
    "or gcs://<bucket>/<path>",
    _bad_uri,
    "!has(self.uri) || (self.uri.indexOf('://') == self.uri.lastIndexOf('://') && self.uri.matches("
    "'(?s)^(([oO][sS]{2}://[^./]+[.]|([sS]3|[gG][cC][sS])://)[^/]+/.|[hH][oO][sS][tT]:///"
    "|[oO][lL]{2}[aA][mM][aA]://.)'))",
)


def _filename_on_modelscope(hub: Json) -> Iterator[Broken]:
    if hub.filename is not None and hub.name == "ModelScope":
        yield ("filename",), f", found {hub.filename!r}"


def _filename_with_patterns(hub: Json) -> Iterator[Broken]:
    if hub.filename is not None and (hub.allow_patterns is not None or hub.ignore_patterns is not None):
        yield ("filename",), f", found {hub.filename!r}"


HUB_FILENAME = Rule(
    "filename works with name Huggingface only; remove it for ModelScope",
    _filename_on_modelscope,
    "!has(self.filename) || self.name != 'ModelScope'",
)
HUB_PATTERNS = Rule(
    "filename excludes allowPatterns and ignorePatterns; keep one way to choose files",
    _filename_with_patterns,
    "!has(self.filename) || (!has(self.allowPatterns) && !has(self.ignorePatterns))",
)


def unique_names(items: Sequence[Any] | None, field: str) -> Iterator[Broken]:
    """Yield every item whose name an earlier one has (the API server: a list map keyed by name)."""
    seen: set[str] = set()
    for index, item in enumerate(items or ()):
        if item.name in seen:
            yield (field, index, "name"), f"{item.name!r} is used twice; names must be unique"
        seen.add(item.name)


# -- claims and scaling


def _not_one_main(claims: Json) -> Iterator[Broken]:
    mains = sum(model.role == "main" for model in claims.models)
    if mains != 1:
        yield ("models",), f", found {mains}"


def _draft_needs_two(claims: Json) -> Iterator[Broken]:
    if any(model.role == "draft" for model in claims.models) and len(claims.models) != 2:
        yield ("models",), f", found {len(claims.models)}"


ONE_MAIN = Rule(
    "models must have exactly one with role main",
    _not_one_main,
    "self.models.filter(m, m.role == 'main').size() == 1",
)
DRAFT = Rule(
    "models with a draft must be exactly 2: the main model and its draft",
    _draft_needs_two,
    "self.models.size() == 2 || !self.models.exists(m, m.role == 'draft')",
)


def _claims_broken(spec: Json) -> Iterator[Broken]:
    if (spec.model_claim is None) == (spec.model_claims is None):
        yield (), ", found neither" if spec.model_claim is None else ", found both"


ONE_CLAIM = Rule(
    "set exactly one of modelClaim and modelClaims",
    _claims_broken,
    "has(self.modelClaim) != has(self.modelClaims)",
)


def _elastic_broken(elastic: Json) -> Iterator[Broken]:
    if elastic.max_replicas is not None and elastic.min_replicas >= elastic.max_replicas:
        yield ("minReplicas",), f", found {elastic.min_replicas} and {elastic.max_replicas}"


MIN_BELOW_MAX = Rule(
    "minReplicas (default 1) must be less than maxReplicas",
    _elastic_broken,
    "!has(self.maxReplicas) || self.minReplicas < self.maxReplicas",
)


def _limits_broken(resources: Json) -> Iterator[Broken]:
    for key, limit in (resources.limits or {}).items():
        request = (resources.requests or {}).get(key)
        if (
            request is not None
            and is_quantity(limit)
            and is_quantity(request)
            and parse_quantity(limit) < parse_quantity(request)
        ):
            yield ("limits", key), f", found limit {limit} and request {request}"


LIMITS = Rule(
    "a limit must not be below the request of the same resource",
    _limits_broken,
    "!has(self.limits) || !has(self.requests) || self.limits.all(k, !(k in self.requests) || "
    "quantity(string(self.limits[k])).compareTo(quantity(string(self.requests[k]))) >= 0)",
)

# -- workloads


def _no_runner(spec: Json) -> Iterator[Broken]:
    containers = (spec.workload_template.worker_template.get("spec") or {}).get("containers") or []
    names = [container.get("name") for container in containers]
    if "model-runner" not in names:
        yield ("workloadTemplate", "workerTemplate", "spec", "containers"), f", found {names}"


RUNNER = Rule(
    "the worker template must have a container named model-runner",
    _no_runner,
    "has(self.workloadTemplate.workerTemplate.spec) && "
    "self.workloadTemplate.workerTemplate.spec.containers.exists(c, c.name == 'model-runner')",
)


def _subgroups_broken(template: Json) -> Iterator[Broken]:
    policy = template.sub_group_policy
    if policy is None:
        return
    size, part = template.size, policy.sub_group_size
    if part > size or (size % part != 0 and (size - 1) % part != 0):
        yield ("subGroupPolicy", "subGroupSize"), f", found {part} for size {size}"


def _excluded_leader_broken(template: Json) -> Iterator[Broken]:
    policy = template.sub_group_policy
    if policy is not None and policy.sub_group_policy_type == "LeaderExcluded":
        size, part = template.size, policy.sub_group_size
        if (size - 1) % part != 0:
            yield ("subGroupPolicy", "subGroupSize"), f", found {part} for size {size}"


SUBGROUPS = Rule(
    "subGroupSize must be at most size, and divide size or size - 1",
    _subgroups_broken,
    "!has(self.subGroupPolicy) || (self.subGroupPolicy.subGroupSize <= self.size && "
    "(self.size % self.subGroupPolicy.subGroupSize == 0 || "
    "(self.size - 1) % self.subGroupPolicy.subGroupSize == 0))",
)
LEADER_EXCLUDED = Rule(
    "with subGroupPolicyType LeaderExcluded subGroupSize must divide size - 1",
    _excluded_leader_broken,
    "!has(self.subGroupPolicy) || self.subGroupPolicy.subGroupPolicyType != 'LeaderExcluded' || "
    "(self.size - 1) % self.subGroupPolicy.subGroupSize == 0",
)


def _is_share(value: int | str) -> bool:
    return _PERCENT.match(value) is not None if isinstance(value, str) else value >= 0


def _share_rule(attribute: str, wire: str) -> Rule:
    def broken(configuration: Json) -> Iterator[Broken]:
        value = getattr(configuration, attribute)
        if not _is_share(value):
            yield (wire,), f", found {value!r}"

    return Rule(
        f"{wire} must be a number of groups from 0, or a percentage from 0% to 100%",
        broken,
        f"!has(self.{wire}) || (type(self.{wire}) == int ? self.{wire} >= 0 : "
        f"self.{wire}.matches('^(100|[0-9]{{1,2}})%$'))",
    )


MAX_UNAVAILABLE = _share_rule("max_unavailable", "maxUnavailable")
MAX_SURGE = _share_rule("max_surge", "maxSurge")


def _share(value: int | str, replicas: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    percent = int(value.removesuffix("%"))
    return -(-percent * replicas // 100) if up else percent * replicas // 100


def _rollout_stuck(spec: Json) -> Iterator[Broken]:
    strategy = spec.rollout_strategy
    configuration = strategy.rolling_update_configuration if strategy is not None else None
    if configuration is None or spec.replicas == 0:
        return
    unavailable, surge = configuration.max_unavailable, configuration.max_surge
    if not _is_share(unavailable) or not _is_share(surge):
        return
    if _share(unavailable, spec.replicas, up=False) == 0 and _share(surge, spec.replicas, up=True) == 0:
        where = ("rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")
        yield where, f", found {unavailable} and {surge} of {spec.replicas} replicas"


_RUC = "self.rolloutStrategy.rollingUpdateConfiguration"
ROLLOUT_MOVES = Rule(
    "maxUnavailable and maxSurge must not both come to 0: no group could ever be updated "
    "(percentages of maxUnavailable round down)",
    _rollout_stuck,
    f"!has(self.rolloutStrategy) || !has({_RUC}) || self.replicas == 0 || "
    f"(type({_RUC}.maxUnavailable) == int ? {_RUC}.maxUnavailable != 0 : "
    f"!{_RUC}.maxUnavailable.matches('^[0-9]{{1,3}}%$') || "
    f"int({_RUC}.maxUnavailable.replace('%', '')) * self.replicas >= 100) || "
    f"(type({_RUC}.maxSurge) == int ? {_RUC}.maxSurge != 0 : !{_RUC}.maxSurge.matches('^0{{1,3}}%$'))",
)


def _too_many_pods(spec: Json) -> Iterator[Broken]:
    pods = spec.replicas * spec.leader_worker_template.size
    if pods > INT32_MAX:
        yield ("replicas",), f", found {pods}"


PODS_FIT = Rule(
    f"replicas times size must be at most {INT32_MAX}",
    _too_many_pods,
    f"self.replicas * self.leaderWorkerTemplate.size <= {INT32_MAX}",
)
