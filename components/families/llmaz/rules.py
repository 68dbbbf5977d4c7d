"""Cross-field rules of llmaz, each in Python and in CEL for the API server (llmaz spec 1 and 7).

Messages are the same in both; only Python's can add the value found.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

from pydantic.alias_generators import to_camel

from ...contract.base import Json, Rule, Violation, no_local_check
from ...contract.names import is_dns1035_label, is_dns1123_label, is_label_value
from ...contract.quantity import is_quantity, parse_quantity
from ...contract.releases import Span
from ...contract.rules import OBJECT_NAME, name_rule
from ..leaderworkerset import rules as lws_rules

_OLD, _NEW = Span(until="v0.1.1"), Span(since="79d833c")
"""The releases in which a Service contains a whole LeaderWorkerSet, and those in which it has the fields of one."""
_SCHEMES = ("oss", "ollama", "host", "s3", "gcs")
_OSS = re.compile(r"[^./]+\.[^/]+/(?s:.+)\Z")
_BUCKET = re.compile(r"[^/]+/(?s:.+)\Z")

MODEL_NAME = name_rule(
    "must be a DNS-1123 label: at most 63 lower-case letters, digits and '-', no dots",
    is_dns1123_label,
    "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
)
WORKLOAD_NAME = name_rule(
    "must be a DNS-1035 label of at most 60 characters (lower-case letters, digits and '-', starting with a "
    "letter), because it names a LeaderWorkerSet and, with '-lb', a Service",
    lambda name: is_dns1035_label(name) and len(name) <= 60,
    "self.metadata.name.size() <= 60 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
)
RUNTIME_NAME = OBJECT_NAME

# -- OpenModel


def _family_broken(spec: Json) -> Iterator[Violation]:
    if not is_label_value(spec.family_name):
        yield ("familyName",), f", found {spec.family_name!r}"


FAMILY_NAME = Rule(
    "familyName must be a label value (at most 63 letters, digits, '-', '_', '.'), because it becomes a pod label",
    _family_broken,
    "self.familyName.size() <= 63 && self.familyName.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",
)


def _no_source(source: Json) -> Iterator[Violation]:
    if source.model_hub is None and source.uri is None:
        yield (), ""


def _bad_uri(source: Json) -> Iterator[Violation]:
    if source.uri is not None and not is_model_uri(source.uri):
        yield ("uri",), f", found {source.uri!r}"


def is_model_uri(uri: str) -> bool:
    """Whether a model URI is well-formed (llmaz spec 1.1)."""
    scheme, separator, address = uri.partition("://")
    if not separator or "://" in address or not address:
        return False
    # Only ASCII letters have cases here, as in the pattern for the API server.
    match scheme.lower() if scheme.isascii() else scheme:
        case "oss":
            return _OSS.match(address) is not None
        case "s3" | "gcs":
            return _BUCKET.match(address) is not None
        case "host":
            return address.startswith("/")
        case other:
            return other in _SCHEMES


SOURCE = Rule(
    "set modelHub or uri; a model needs a source",
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


def _filename_on_modelscope(hub: Json) -> Iterator[Violation]:
    if hub.filename is not None and hub.name == "ModelScope":
        yield ("filename",), f", found {hub.filename!r}"


def _filename_with_patterns(hub: Json) -> Iterator[Violation]:
    if hub.filename is not None and (hub.allow_patterns is not None or hub.ignore_patterns is not None):
        yield ("filename",), f", found {hub.filename!r}"


HUB_FILENAME = Rule(
    "filename works only with name Huggingface; remove it for ModelScope",
    _filename_on_modelscope,
    "!has(self.filename) || self.name != 'ModelScope'",
)
HUB_PATTERNS = Rule(
    "filename cannot be combined with allowPatterns and ignorePatterns; keep one way to choose files",
    _filename_with_patterns,
    "!has(self.filename) || (!has(self.allowPatterns) && !has(self.ignorePatterns))",
)


# -- claims and scaling


def _not_one_main(claims: Json) -> Iterator[Violation]:
    mains = sum(model.role == "main" for model in claims.models)
    if mains != 1:
        yield ("models",), f", found {mains}"


def _draft_needs_two(claims: Json) -> Iterator[Violation]:
    if any(model.role == "draft" for model in claims.models) and len(claims.models) != 2:
        yield ("models",), f", found {len(claims.models)}"


ONE_MAIN = Rule(
    "models must contain exactly one with role main",
    _not_one_main,
    "self.models.filter(m, m.role == 'main').size() == 1",
)
DRAFT = Rule(
    "models with a draft must be exactly 2, the main model and its draft",
    _draft_needs_two,
    "self.models.size() == 2 || !self.models.exists(m, m.role == 'draft')",
)


def _claims_broken(spec: Json) -> Iterator[Violation]:
    if (spec.model_claim is None) == (spec.model_claims is None):
        yield (), ", found neither" if spec.model_claim is None else ", found both"


ONE_CLAIM = Rule(
    "set exactly one of modelClaim and modelClaims",
    _claims_broken,
    "has(self.modelClaim) != has(self.modelClaims)",
)


def _elastic_broken(elastic: Json) -> Iterator[Violation]:
    if elastic.max_replicas is not None and elastic.min_replicas >= elastic.max_replicas:
        yield ("minReplicas",), f", found {elastic.min_replicas} and {elastic.max_replicas}"


MIN_BELOW_MAX = Rule(
    "minReplicas (default 1) must be less than maxReplicas",
    _elastic_broken,
    "!has(self.maxReplicas) || self.minReplicas < self.maxReplicas",
)


def _limits_broken(resources: Json) -> Iterator[Violation]:
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
    "a limit must not be below the request for the same resource",
    _limits_broken,
    "!has(self.limits) || !has(self.requests) || self.limits.all(k, !(k in self.requests) || "
    "quantity(string(self.limits[k])).compareTo(quantity(string(self.requests[k]))) >= 0)",
)

# -- workloads


def _no_runner(spec: Json) -> Iterator[Violation]:
    template = spec.workload_template
    old = template.leader_worker_template
    worker = old.worker_template if old is not None else template.worker_template
    containers = ((worker or {}).get("spec") or {}).get("containers") or []
    names = [container.get("name") for container in containers]
    if worker is not None and "model-runner" not in names:
        above = ("leaderWorkerTemplate",) if old is not None else ()
        yield ("workloadTemplate", *above, "workerTemplate", "spec", "containers"), f", found {names}"


_RUNNER = "the worker template must have a container named model-runner"


def _runner_cel(template: str) -> str:
    return f"has({template}.spec) && {template}.spec.containers.exists(c, c.name == 'model-runner')"


def _server_only(rule: Rule, span: Span, cel: str = "") -> Rule:
    """Return a rule for the API server of some releases; here, the same rule without CEL holds for all of them."""
    return replace(rule, broken=no_local_check, span=span, cel=cel or rule.cel)


RUNNER = Rule(_RUNNER, _no_runner, "")
SERVICE = (
    RUNNER,
    _server_only(RUNNER, _NEW, _runner_cel("self.workloadTemplate.workerTemplate")),
    _server_only(RUNNER, _OLD, _runner_cel("self.workloadTemplate.leaderWorkerTemplate.workerTemplate")),
    replace(lws_rules.ROLLOUT_MOVES, cel=""),
    _server_only(lws_rules.ROLLOUT_MOVES, _NEW),
)
"""The rules of a Service's spec."""

# -- forms of several releases: each is complete in itself, and two of them would contradict each other


def _both(*pairs: tuple[str, str]) -> Callable[[Json], Iterator[Violation]]:
    """Return the violations of pairs of fields of which an object may set only one."""

    def broken(value: Json) -> Iterator[Violation]:
        for pair in pairs:
            if value.model_fields_set.issuperset(pair):
                earlier, later = (to_camel(field) for field in pair)
                yield (
                    (earlier,),
                    f"{earlier} and {later} are one setting in different releases; remove one of the two",
                )

    return broken


ONE_NAME_OF_LIMITS = Rule("", _both(("requests", "limits")), "")
ONE_NAME_OF_BACKEND = Rule("", _both(("name", "backend_name")), "")
ONE_COMMAND = Rule("", _both(("commands", "command")), "")
ONE_FORM_OF_CONFIGS = Rule(
    "", _both(*((field, "recommended_configs") for field in ("args", "resources", "scale_triggers"))), ""
)
ONE_TRIGGER = Rule("", _both(("scale_trigger_ref", "scale_trigger")), "")


def _two_configs(config: Json) -> Iterator[Violation]:
    if config.config_name is not None and config.args is not None and not isinstance(config.args, list):
        yield ("configName",), "args is a map with the name of the configuration already; remove one of the two"


ONE_CONFIG = Rule("", _two_configs, "")


def _two_triggers(spec: Json) -> Iterator[Violation]:
    config, elastic = spec.backend_runtime_config, spec.elastic_config
    if config is None or config.scale_trigger is None or elastic is None:
        return
    for field in ("scale_trigger", "scale_trigger_ref"):
        if getattr(elastic, field) is not None:
            yield (
                ("backendRuntimeConfig", "scaleTrigger"),
                "elasticConfig has a trigger too, which is one setting in different releases; remove one of the two",
            )


ONE_PLACE_OF_TRIGGER = Rule("", _two_triggers, "")

_GROUP_FIELDS = ("leader_template", "worker_template", "size", "restart_policy", "sub_group_policy")
_SET_FIELDS = ("replicas", "rollout_strategy", "startup_policy", "network_config")


def _two_templates(template: Json) -> Iterator[Violation]:
    written = template.model_fields_set
    if "leader_worker_template" in written:
        reason = "is in leaderWorkerTemplate in the releases that have leaderWorkerTemplate; move it there"
        yield from (((to_camel(field),), reason) for field in _GROUP_FIELDS if field in written)
        return
    if "worker_template" not in written:
        yield ("workerTemplate",), "is required; set it"
    reason = "is here only in releases that have leaderWorkerTemplate; remove it, or move it to another field of spec"
    yield from (((to_camel(field),), reason) for field in _SET_FIELDS if field in written)


def _old_rollout(template: Json) -> Iterator[Violation]:
    if template.rollout_strategy is not None:
        replicas = 1 if template.replicas is None else template.replicas
        spec = SimpleNamespace(rollout_strategy=template.rollout_strategy, replicas=replicas)
        yield from lws_rules.ROLLOUT_MOVES.broken(spec)


ONE_TEMPLATE = Rule("", _two_templates, "")
EXCLUDED_LEADER = (replace(lws_rules.LEADER_EXCLUDED, cel=""),)
WORKLOAD_TEMPLATE = (
    ONE_TEMPLATE,
    replace(lws_rules.SUBGROUPS, cel=""),
    _server_only(lws_rules.SUBGROUPS, _NEW),
    replace(lws_rules.LEADER_EXCLUDED, cel=""),
    _server_only(lws_rules.LEADER_EXCLUDED, Span(since="3c13ff3")),
    replace(lws_rules.ROLLOUT_MOVES, broken=_old_rollout, cel=""),
    _server_only(lws_rules.ROLLOUT_MOVES, _OLD),
)
"""The rules of the template of a Service."""
