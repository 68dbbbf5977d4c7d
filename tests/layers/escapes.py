"""Who escapes text of others, for shells and for HTML."""

from collections.abc import Iterator

from tests.layers.modules import Module

ESCAPING = (
    "components/contract/texts/outputs.py",
    "workbench/planning/formats/escaping.py",
    # These write scripts for containers and nodes; users do not paste them into a shell.
    "components/families/llmaz/rendering.py",
    "components/clouds/aws/api_server.py",
)
_FUNCTIONS = ("shlex.quote", "shlex.join", "html.escape")


def own_escapes(module: Module) -> Iterator[str]:
    """Yield uses of the functions of the standard library, which leave control characters as they are."""
    if module.path in ESCAPING or not module.is_in("components", "livefleet", "stacks", "toolkit", "workbench"):
        return
    for number, line in enumerate(module.text.splitlines(), start=1):
        for function in _FUNCTIONS:
            if f"{function}(" in line:
                yield f"{module.path}:{number}: {function}"
