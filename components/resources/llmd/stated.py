"""What the arguments of a variant say of promise, load and price: settings of a fleet, checked as those are."""

from collections.abc import Mapping
from dataclasses import replace

from pydantic import ValidationError

from ...contract.problems import field_path
from ...fleet.levels import ServiceLevels
from ...fleet.options import Options
from ...fleet.words import Realization
from ...plan.faults import faults
from ...plan.sections.levels import LevelSettings
from ..serving.args import LoadArgs, PromiseArgs
from ..serving.arguments import Arguments
from ..serving.rendering_options import options_of
from ..serving.typed_args import camel, keys_of

DEFAULT_CLASS = "default"
_FAMILY = "llmd"
_MODEL, _VARIANT, _ACCELERATOR = "model", "variant", "accelerator"
"""Stand for names that are checked with the resource, where they are fields."""
_PLACES: Mapping[tuple[str | int, ...], str] = {
    ("classes", 0, "name"): "service_class",
    ("classes", 0, "models", _MODEL): "promise",
    ("loads", _VARIANT): "load",
    ("accelerators", _ACCELERATOR, "centsPerHour"): "cents_per_hour",
}
"""The argument that is behind each setting."""
_KEYS = {camel(key): key for typed in (PromiseArgs, LoadArgs) for key in keys_of(typed)}


def options_for(given: Arguments, name: str, namespace: str) -> Options:
    """Return how to render a variant and its targets; what is wrong is recorded.

    The realization is that of the variant alone: only what is rendered here can be scaled.
    """
    options = options_of(given)
    given.require("promise", *(["load"] if options.realization.is_native else []))
    return replace(
        options,
        realization=Realization.NATIVE,
        realizations={_FAMILY: options.realization},
        levels=_levels(given, f"{namespace}/{name}"),
    )


def _levels(given: Arguments, variant: str) -> ServiceLevels:
    values = given.values
    loads = {_VARIANT: values["load"]} if "load" in values else {}
    models = {_MODEL: values.get("promise", {})}
    stated = {
        "classes": [{"name": values.get("service_class", DEFAULT_CLASS), "models": models}],
        "loads": loads,
        "accelerators": {_ACCELERATOR: {"centsPerHour": values.get("cents_per_hour")}},
    }
    try:
        levels = LevelSettings.model_validate(stated).levels(given.name)
    except ValidationError as error:
        for fault in faults(error, LevelSettings):
            if not fault.unknown:  # that has been found by the types of the arguments
                given.add_problem(_argument(fault.path), fault.reason)
        return ServiceLevels()
    (promising,) = levels.classes
    return replace(
        levels,
        classes=(replace(promising, promises={values.get("model_id", ""): promising.promises[_MODEL]}),),
        loads={variant: levels.loads[_VARIANT]} if loads else {},
        accelerators={values.get("accelerator", ""): levels.accelerators[_ACCELERATOR]},
    )


def _argument(path: tuple[str | int, ...]) -> str:
    """Return the argument behind a setting."""
    place = next(place for place in _PLACES if path[: len(place)] == place)
    return field_path((_PLACES[place], *(_KEYS.get(str(part), part) for part in path[len(place) :])))
