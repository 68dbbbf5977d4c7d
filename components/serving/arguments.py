"""What the serving components share: arguments about pods, and the way from arguments to a checked resource."""

from collections.abc import Mapping
from typing import Any, NoReturn, TypedDict

import pulumi

from ..api.base import ApiModel, whole_float_to_int
from ..api.checking import check
from ..api.load import Loaded
from ..api.problems import Problem, errors, field_path
from ..families import kinds
from ..fleet.options import ModelCache, Options, PodOverrides
from ..fleet.words import Edition, Realization, WorkloadChoice
from ..plan.plan import Plan


class InvalidArguments(pulumi.InputPropertiesError, pulumi.RunError):
    """Arguments that must not be used: one line per problem, for a program and for a remote caller alike."""


class WorkloadArgs(TypedDict, total=False):
    """Arguments of every component that runs pods. All are plain: they decide which objects there are."""

    name: str
    """Name of the Kubernetes objects. Default: the component's name."""
    namespace: str
    """Namespace of the Kubernetes objects. Default: default."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the llmaz resource. Default: native."""
    workload: str
    """auto, lws or deployment. auto makes a LeaderWorkerSet only where a replica spans pods. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes: upstream or current. Default: upstream."""
    tolerations: list[dict[str, Any]]
    """Tolerations to add to every pod."""
    service_account_name: str
    """Service account of the pods."""
    image_pull_secrets: list[str]
    """Names of Secrets to pull images with."""
    priority_class_name: str
    """Priority class of the pods."""
    pod_annotations: dict[str, str]
    """Annotations to add to every pod."""
    pod_labels: dict[str, str]
    """Labels to add to every pod."""
    cache_claim: str
    """PersistentVolumeClaim that keeps loaded weights between pod starts."""
    cache_host_path: str
    """Node folder that keeps loaded weights between pod starts."""
    skip_model_loader: bool
    """Let the engine fetch the weights itself, from the model ID or URI."""


SKIP_LOADER = "llmaz.io/skip-model-loader"


def options_of(args: Mapping[str, Any]) -> Options:
    """Return how to render from a component's arguments.

    Raises:
        InvalidArguments: a word is not in its vocabulary, or two caches are asked for.
    """
    claim, host_path = args.get("cache_claim"), args.get("cache_host_path")
    try:
        return Options(
            realization=Realization.read(args.get("realization", "native"), "realization"),
            workload=WorkloadChoice.read(args.get("workload", "auto"), "workload"),
            namespace=args.get("namespace", "default"),
            runtimes=Edition.read(args.get("runtimes", "upstream"), "runtimes"),
            cache=ModelCache(claim, host_path) if claim or host_path else None,
            overrides=PodOverrides(
                tolerations=tuple(plain(args.get("tolerations", []))),
                service_account_name=args.get("service_account_name"),
                image_pull_secrets=tuple(args.get("image_pull_secrets", ())),
                priority_class_name=args.get("priority_class_name"),
                annotations=args.get("pod_annotations", {}),
                labels=args.get("pod_labels", {}),
            ),
        )
    except ValueError as error:
        path = str(error).partition(" ")[0]
        raise InvalidArguments(str(error), [{"property_path": path, "reason": str(error)}]) from None


def resource_of(api_version: str, kind: str, metadata: dict[str, Any], spec: dict[str, Any]) -> Loaded:
    """Return the checked resource that the arguments describe.

    Raises:
        InvalidArguments: the contract refuses it; every problem is listed.
    """
    value = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return checked(value, metadata["name"])


def checked(value: Mapping[str, Any], name: str) -> Loaded:
    """Return a resource given in wire form, checked.

    Raises:
        InvalidArguments: its kind is unknown or the contract refuses it.
    """
    wire = plain(dict(value))
    kind = kinds().find(wire.get("apiVersion"), wire.get("kind"))
    if kind is None:
        reason = f"unknown kind {wire.get('apiVersion')}/{wire.get('kind')}"
        raise InvalidArguments(f"{name}: {reason}", [{"property_path": "kind", "reason": reason}])
    resource, found = check(wire, kind)
    if resource is None:
        refuse([Problem("<program>", 0, kind.kind, name, field_path(path), reason) for path, reason in found])
    return Loaded.of(resource, kind)


def claimed_models(name: str, args: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the main and the draft model of a component, in wire form.

    Raises:
        InvalidArguments: there is no main model, or one of them is not a manifest.
    """
    draft = manifest_of(name, args, "draft_model", "OpenModel") if args.get("draft_model") is not None else None
    return manifest_of(name, args, "model", "OpenModel"), draft


def manifest_of(name: str, args: Mapping[str, Any], key: str, kind: str) -> dict[str, Any]:
    """Return a manifest that an argument holds.

    Raises:
        InvalidArguments: it is none.
    """
    value = args.get(key)
    named = isinstance(value, dict) and isinstance(value.get("metadata"), dict) and value["metadata"].get("name")
    if not named:
        found = type(value).__name__
        reason = f"must be the manifest of {_a(kind)}, found {found}; pass {kind}(...).manifest"
        raise InvalidArguments(f"{name}: {key}: {reason}", [{"property_path": key, "reason": reason}])
    manifest: dict[str, Any] = plain(value)
    return manifest


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "AEIOU" else f"a {word}"


def claim(
    model: dict[str, Any], draft: dict[str, Any] | None, flavors: list[str] | None, *, several: bool
) -> dict[str, Any]:
    """Return the claim of a model, in the form for one or for several."""
    main = model["metadata"]["name"]
    if not several:
        return {"modelClaim": compact({"modelName": main, "inferenceFlavors": flavors})}
    models = [{"name": main, "role": "main"}]
    models += [{"name": draft["metadata"]["name"], "role": "draft"}] if draft else []
    return {"modelClaims": compact({"models": models, "inferenceFlavors": flavors})}


def refuse(problems: list[Problem]) -> NoReturn:
    """Raise the problems that are errors."""
    raise InvalidArguments(
        "\n".join(map(_line, errors(problems))),
        [{"property_path": p.path, "reason": p.reason} for p in errors(problems)],
    )


def checked_plan(planned: Plan) -> Plan:
    """Return a plan without errors; what works but hardly as meant is logged.

    Raises:
        InvalidArguments: there are errors; every problem is listed.
    """
    for problem in planned.problems:
        if not problem.is_error:
            pulumi.log.warn(_line(problem))
    if errors(planned.problems):
        refuse(list(planned.problems))
    return planned


def _line(problem: Problem) -> str:
    """Name the field alone where there is no file to look into."""
    subject = [f"{problem.kind}/{problem.name}"] if problem.kind else []
    return ": ".join(filter(None, [*subject, problem.path, problem.reason])) if not problem.line else str(problem)


def metadata_of(name: str, args: Mapping[str, Any], *, namespaced: bool = True) -> dict[str, Any]:
    """Return the metadata of the resource that a component describes."""
    metadata: dict[str, Any] = {"name": args.get("name", name)}
    if namespaced:
        metadata["namespace"] = args.get("namespace", "default")
    if args.get("skip_model_loader"):
        metadata["annotations"] = {SKIP_LOADER: "true"}
    return metadata


def wire_names(args: Mapping[str, Any], model: type[ApiModel]) -> dict[str, Any]:
    """Return the arguments that are fields of a type of the contract, under their names on the wire."""
    fields = {name: field.alias or name for name, field in model.model_fields.items()}
    return compact({alias: args[name] for name, alias in fields.items() if name in args})


def compact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is set."""
    return {key: value for key, value in values.items() if value is not None and value not in ({}, [])}


def plain(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Return JSON with whole numbers as integers: a remote caller's arrive as floats."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return whole_float_to_int(value)
