"""What the kubelet does to a container before it starts it: a stand-in, since no containers run here.

``$(NAME)`` in commands, arguments and the values of variables becomes the value of that variable, ``$$`` becomes
``$``, and what names no variable stays (Kubernetes ``third_party/forked/golang/expansion``, ``kubelet_pods.go``).
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SHELLS = [shell for shell in ("sh", "bash", "dash") if shutil.which(shell)]
"""Every shell of this machine that an image may have as its ``sh``."""


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Return a word of a command as the container gets it."""
    out, rest = "", text
    while rest:
        before, operator, rest = rest.partition("$")
        out += before
        if not operator or not rest:
            return out + operator
        name, closed, after = rest[1:].partition(")")
        if rest[0] == "(" and closed:
            out, rest = out + variables.get(name, f"$({name})"), after
        else:
            out, rest = out + ("$" if rest[0] == "$" else "$" + rest[0]), rest[1:]
    return out


def environment(container: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a container.

    Args:
        container: The container.
        given: Values out of Secrets, by the variable's name, and what others put into the pod.
    """
    variables = dict(given)
    for entry in container.get("env", ()):
        if "value" in entry:
            variables[entry["name"]] = expanded(entry["value"], variables)
    return variables


def started(
    container: Mapping[str, Any],
    given: Mapping[str, str],
    folder: Path,
    moved: Mapping[str, str] | None = None,
    shell: str = "sh",
) -> subprocess.CompletedProcess[str]:
    """Run a container as a process in a folder, whose ``bin`` comes first on the path.

    Args:
        container: The container.
        given: Values out of Secrets, by the variable's name, and what others put into the pod.
        folder: Where to run it.
        moved: Folders of the container, and where they are here.
        shell: What runs in the place of ``sh``.
    """

    def here(text: str) -> str:
        for there, place in (moved or {}).items():
            text = text.replace(there, place)
        return text

    variables = environment(container, given)
    words = [expanded(word, variables) for word in (*container.get("command", ()), *container.get("args", ()))]
    words[0] = shell if words[0] in ("sh", "/bin/sh") else words[0]
    env = {name: here(value) for name, value in variables.items()}
    env["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        [here(word) for word in words], cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=60
    )
