"""Build the metadata and the model claim of Playgrounds and Services from their common arguments."""

from typing import Any

from ..serving.arguments import Arguments, compact

_SKIP_LOADER = "llmaz.io/skip-model-loader"


def metadata_of(name: str, arguments: Arguments) -> dict[str, Any]:
    """Return the metadata of a component's resource."""
    metadata: dict[str, Any] = {
        "name": arguments.get("name", name),
        "namespace": arguments.get("namespace", "default"),
    }
    if arguments.get("skip_model_loader"):
        metadata["annotations"] = {_SKIP_LOADER: "true"}
    return metadata


def claimed_models(arguments: Arguments) -> list[dict[str, Any]]:
    """Return the main model of a component and its draft, if there is one, in wire form.

    Raises:
        InvalidArguments: one of them is not a manifest, or another argument is invalid; all problems are listed.
    """
    models = [
        arguments.manifest(key, "OpenModel")
        for key in ("model", "draft_model")
        if key in ("model", *arguments.values)
    ]
    arguments.check()
    return models


def claim(models: list[dict[str, Any]], flavors: list[str] | None, *, several: bool) -> dict[str, Any]:
    """Return the claim of a model and its draft, as ``modelClaim`` or as ``modelClaims``."""
    names = [model["metadata"]["name"] for model in models]
    if not several:
        return {"modelClaim": compact({"modelName": names[0], "inferenceFlavors": flavors})}
    claimed = [{"name": name, "role": role} for name, role in zip(names, ("main", "draft"), strict=False)]
    return {"modelClaims": compact({"models": claimed, "inferenceFlavors": flavors})}
