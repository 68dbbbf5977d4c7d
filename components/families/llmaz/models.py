"""The source, served name and path of a model (llmaz spec 1.1, 2.1, 2.2)."""

from typing import NamedTuple

from ...contract.findings.collector import Findings, unknown_reference
from ...contract.findings.ids import RuleId
from ...fleet.flavors import Flavor
from ...fleet.library import Library
from ...fleet.origins import Origin
from ...fleet.workloads import NamedWeights
from .kinds import OPEN_MODEL
from .reading import read_model
from .types import ModelHub, ModelRef, OpenModel

MODEL_ROOT = "/workspace/models/"
_OBJECT_STORES = ("oss", "s3", "gcs")


class WeightSource(NamedTuple):
    """A model's origin: ``hub``, ``oss``, ``s3``, ``gcs``, ``ollama`` or ``host``, and the address there."""

    scheme: str
    address: str
    uri: str = ""
    hub: ModelHub | None = None

    @property
    def last_segment(self) -> str:
        """Last part of an object store path."""
        return self.address.rstrip("/").rpartition("/")[2]

    @property
    def is_file(self) -> bool:
        """Whether an object store address is a file. Only GGUF is; loader and engine take the rest for folders."""
        return ".gguf" in self.last_segment

    @property
    def object_store(self) -> bool:
        """Whether the weights lie in an object store."""
        return self.scheme in _OBJECT_STORES


class Claim(NamedTuple):
    """The models that a workload serves, and the flavors that it may run on.

    Attributes:
        models: The main model first.
        flavors: Candidates in order of preference; the limits of the first apply.
        paths: Field of each model's name, for messages.
        chosen_by: Field that chooses the flavors, with their model as its lead.
    """

    models: tuple[OpenModel, ...]
    flavors: tuple[Flavor, ...]
    paths: tuple[str, ...]
    flavor_names: tuple[str, ...]
    skip_loader: bool
    chosen_by: Origin

    @property
    def main(self) -> OpenModel:
        """The model that is served."""
        return self.models[0]

    @property
    def flavor(self) -> Flavor | None:
        """The preferred flavor."""
        return self.flavors[0] if self.flavors else None


def source_of(model: OpenModel) -> WeightSource:
    """Return a model's source; a hub takes precedence over a URI."""
    source = model.spec.source
    if source.model_hub:
        return WeightSource("hub", source.model_hub.model_id, hub=source.model_hub)
    uri = source.uri or ""
    scheme, _, address = uri.partition("://")
    return WeightSource(scheme.lower(), address, uri)


def served_name(model: OpenModel) -> str:
    """Return the name that clients use: ollama's own tag, or the OpenModel's name."""
    source = source_of(model)
    return source.address if source.scheme == "ollama" else model.metadata.name


def model_path(model: OpenModel, *, skip_loader: bool) -> str:
    """Return the engine's model argument: a path, or with ``skip-model-loader`` an ID or URI."""
    source = source_of(model)
    if source.scheme == "host":
        return source.address
    if skip_loader:
        return source.uri or source.address
    if source.hub and source.hub.filename:
        return MODEL_ROOT + source.hub.filename
    if source.object_store:
        return MODEL_ROOT + (source.last_segment if source.is_file else f"models--{source.last_segment}")
    return f"{MODEL_ROOT}models--{source.address.replace('/', '--')}"


def named_weights(claim: Claim) -> tuple[NamedWeights, ...]:
    """Return the sources of the weights that model loaders fetch."""
    return tuple(
        NamedWeights(
            model_path(model, skip_loader=claim.skip_loader),
            source.address if source.hub else source.uri,
            (source.hub.filename or "") if source.hub else source.last_segment if source.is_file else "",
        )
        for model, source in ((model, source_of(model)) for model in claim.models)
        if source.scheme != "host"
    )


def placeholders(claim: Claim, *, with_parallelism: bool = False) -> dict[str, str]:
    """Return the values of the placeholders in recommended arguments (llmaz spec 2.4).

    Args:
        claim: The claimed models.
        with_parallelism: Whether TP and PP of the flavor are among them, as they were in v0.1.0 and v0.1.1.
    """
    values = {
        "ModelPath": model_path(claim.main, skip_loader=claim.skip_loader),
        "ModelName": served_name(claim.main),
    }
    if len(claim.models) > 1:
        values["DraftModelPath"] = model_path(claim.models[1], skip_loader=claim.skip_loader)
    if with_parallelism and claim.flavor:
        params = {name.upper(): value for name, value in (claim.flavor.params or {}).items()}
        values |= {key: params[key] for key in ("TP", "PP") if params.get(key)}
    return values


def resolve(
    refs: list[tuple[ModelRef, str]],
    flavor_names: list[str] | None,
    base: str,
    library: Library,
    findings: Findings,
    *,
    skip_loader: bool,
) -> Claim:
    """Look up claimed models and flavors, main models first (llmaz spec 2.1).

    A placeholder replaces a model that does not exist or whose manifest is invalid, so that the rest of the resource
    is checked.
    """
    models_by_name = dict(library.all(OpenModel))
    missing = [(ref.name, path) for ref, path in refs if ref.name not in models_by_name]
    for name, path in missing:
        if not library.is_unread("OpenModel", name):
            findings.error(
                path,
                unknown_reference(
                    "OpenModel", name, library.names(OpenModel), "add its manifest, or correct the name"
                ),
                RuleId.REFERENCE_MISSING,
            )
    if missing:
        findings.is_tentative = True
        models_by_name |= {name: _placeholder() for name, _ in missing}
        flavor_names = None
    ordered = sorted(refs, key=lambda reference: reference[0].role != "main")
    models = tuple(read_model(models_by_name[ref.name]) for ref, _ in ordered)
    flavors_path, main = f"{base}.inferenceFlavors", models[0].metadata.name
    config = models[0].spec.inference_config
    flavors = {flavor.name: flavor for flavor in (config.flavors if config else None) or ()}
    claimed = flavor_names or list(flavors)
    for index, name in enumerate(claimed):
        if name not in flavors:
            reason = unknown_reference(
                f"flavor of OpenModel {main!r}", name, flavors, "add it to the model, or remove it here"
            )
            findings.error(f"{flavors_path}[{index}]", reason, RuleId.REFERENCE_MISSING)
    model_field = "models" if refs[0][1].endswith("].name") else "modelName"
    path = flavors_path if flavor_names else f"{base}.{model_field}"
    return Claim(
        models=models,
        flavors=tuple(flavors[name] for name in claimed if name in flavors),
        paths=tuple(path for _, path in ordered),
        flavor_names=tuple(flavor_names or ()),
        skip_loader=skip_loader,
        chosen_by=Origin(findings.source, path, f"OpenModel {main!r}: "),
    )


def _placeholder() -> OpenModel:
    # With a name of its own, because the claimed name may not be a valid one.
    return OpenModel.model_validate(
        {
            "apiVersion": OPEN_MODEL.api_version,
            "kind": OPEN_MODEL.kind,
            "metadata": {"name": "any"},
            "spec": {"familyName": "any", "source": {"modelHub": {"modelID": "any/any"}}},
        }
    )
