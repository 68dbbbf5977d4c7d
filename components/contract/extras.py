"""Names the extra of the distribution that installs a missing package."""

_SDKS = "pulumi_"


def with_extra(error: ModuleNotFoundError, user: str) -> ModuleNotFoundError:
    """Return the error of a missing SDK as one sentence with the command that installs it.

    Other errors are returned as they are. SDKs of Pulumi are in extras of their names: ``pulumi_aws`` in ``aws``.

    Args:
        error: The error of an import.
        user: What needs the package, as the subject of the message.
    """
    module = error.name or ""
    if not module.startswith(_SDKS):
        return error
    extra, package = module.removeprefix(_SDKS), module.replace("_", "-")
    message = f"{user} needs {package}: pip install 'inference-platform[{extra}]'"
    return ModuleNotFoundError(message, name=module)
