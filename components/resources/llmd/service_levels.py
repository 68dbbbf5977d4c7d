"""The promise, load and price of a variant as settings of a fleet, validated like those settings."""

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
# Placeholders for names that are keys of the settings: they are validated with the resource, where they are fields.
_MODEL, _VARIANT, _ACCELERATOR = "model", "variant", "accelerator"
_ARGUMENTS: Mapping[tuple[str | int, ...], str] = {
    ("classes", 0, "name"): "service_class",
    ("classes", 0, "models", _MODEL): "promise",
    ("loads", _VARIANT): "load",
    ("accelerators", _ACCELERATOR, "centsPerHour"): "cents_per_hour",
}
"""The argument for each setting."""
_KEYS = {camel(key): key for typed in (PromiseArgs, LoadArgs) for key in keys_of(typed)}


def options_for(arguments: Arguments, name: str, namespace: str) -> Options:
    """Return the rendering options of a variant and its targets; problems are recorded in ``given``.

    The realization applies to the variant only: a target must be rendered here to be scaled.
    """
    options = options_of(arguments)
    if "model_profile" in arguments.values:
        arguments.require("promise", *(["load"] if options.realization.is_native else []))
    return replace(
        options,
        realization=Realization.NATIVE,
        realizations={_FAMILY: options.realization},
        levels=_levels(arguments, f"{namespace}/{name}"),
    )


def _levels(arguments: Arguments, variant: str) -> ServiceLevels:
    values = arguments.values
    loads = {_VARIANT: values["load"]} if "load" in values else {}
    classes = (
        [{"name": values.get("service_class", DEFAULT_CLASS), "models": {_MODEL: values["promise"]}}]
        if "promise" in values
        else []
    )
    settings = {
        "classes": classes,
        "loads": loads,
        "accelerators": {_ACCELERATOR: {"centsPerHour": values.get("cents_per_hour")}},
    }
    try:
        levels = LevelSettings.model_validate(settings).levels(arguments.name)
    except ValidationError as error:
        for fault in faults(error, LevelSettings):
            if not fault.unknown:  # the types of the arguments have reported unknown keys already
                prefix = next(prefix for prefix in _ARGUMENTS if fault.path[: len(prefix)] == prefix)
                keys = (_KEYS.get(str(part), part) for part in fault.path[len(prefix) :])
                arguments.add_problem(field_path((_ARGUMENTS[prefix], *keys)), fault.reason)
        return ServiceLevels()
    return replace(
        levels,
        classes=tuple(
            replace(service_class, targets={values.get("model_id", ""): service_class.targets[_MODEL]})
            for service_class in levels.classes
        ),
        loads={variant: levels.loads[_VARIANT]} if loads else {},
        accelerators={values.get("accelerator", ""): levels.accelerators[_ACCELERATOR]},
    )
