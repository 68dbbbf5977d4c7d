"""Conversion of requests to Pulumi's resource monitor into properties_of data."""

from typing import Any

import pulumi
from pulumi.runtime import rpc

from ..values import UNKNOWN, Secret
from .resources import Alias, Registration, provider_urn

_SIGNATURE = rpc._special_sig_key  # noqa: SLF001
_SECRET = rpc._special_secret_sig  # noqa: SLF001
_RESOURCE = rpc._special_resource_sig  # noqa: SLF001


def registration_of(request: Any) -> Registration:  # noqa: ANN401 - a protobuf message
    timeouts = request.customTimeouts
    return Registration(
        type=request.type,
        name=request.name,
        parent=request.parent,
        custom=request.custom,
        remote=request.remote,
        inputs=properties_of(request.object),
        provider=provider_urn(request.provider),
        dependencies=tuple(sorted(request.dependencies)),
        property_dependencies={
            key: tuple(sorted(dependencies.urns))
            for key, dependencies in sorted(request.propertyDependencies.items())
            if dependencies.urns
        },
        protect=request.protect if request.HasField("protect") else None,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        secret_outputs=tuple(request.additionalSecretOutputs),
        aliases=tuple(_alias(alias) for alias in request.aliases),
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        deleted_with=request.deletedWith,
        replaced_with=tuple(request.replace_with),
        import_id=request.importId,
        timeouts={
            verb: getattr(timeouts, verb) for verb in ("create", "update", "delete") if getattr(timeouts, verb)
        },
    )


def _alias(alias: Any) -> Alias:  # noqa: ANN401 - a protobuf message
    if alias.WhichOneof("alias") == "urn":
        return Alias(urn=alias.urn)
    spec = alias.spec
    return Alias(
        name=spec.name,
        type=spec.type,
        stack=spec.stack,
        project=spec.project,
        parent=spec.parentUrn,
        no_parent=spec.noParent,
    )


def properties_of(struct: Any) -> dict[str, Any]:  # noqa: ANN401 - a protobuf message
    """Convert a protobuf struct to JSON values: integral numbers to int, nulls dropped, secrets marked."""
    return {name: _value(value) for name, value in struct.fields.items() if not value.HasField("null_value")}


def _value(value: Any) -> Any:  # noqa: ANN401
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if value.string_value == rpc.UNKNOWN else value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [_value(inner) for inner in value.list_value.values]
    if kind == "struct_value":
        fields = value.struct_value.fields
        if _SIGNATURE not in fields:
            return properties_of(value.struct_value)
        signature = fields[_SIGNATURE].string_value
        if signature == _SECRET:
            return Secret(_value(fields["value"]))
        if signature == _RESOURCE:
            return fields["id"].string_value if "id" in fields else fields["urn"].string_value
        raise pulumi.RunError(
            "assets and archives cannot be used as inputs here; pass their content as a string instead"
        )
    return None
