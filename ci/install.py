"""``python ci/install.py LOCK...``: install the packages of lock files, with progress messages.

Runs before anything is installed, and requires only Python and pip. pip installs uv as pinned in ``installer.lock``,
and uv the rest, with the same hashes and in a fraction of the time: it downloads and unpacks in parallel, and leaves
the compilation of modules to their first import. Where there is no uv for a system, or it cannot do what pip is
configured for, pip installs everything.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_PIP = (sys.executable, "-m", "pip")
_PIP_INSTALL = (*_PIP, "install", "--disable-pip-version-check", "--progress-bar", "off", "--require-hashes")
_UV_INSTALL = (sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, "--require-hashes")
_INSTALLER = Path(__file__).with_name("installer.lock")
_PACKAGE = re.compile(r"(?:Collecting|Requirement already satisfied:) ([\w.\[\]-]+)")
_UV_DOWNLOAD = re.compile(r"\s*Downloading ([\w.-]+)")
_LAST = 40
"""Lines of an installer's output to print on failure."""
_PAUSE = 5.0
"""Seconds between progress messages."""

_SINGLE = {
    "index-url": "UV_DEFAULT_INDEX",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "retries": "UV_HTTP_RETRIES",
}
"""Options of pip's configuration, each with the variable in which uv reads the same value."""
_LISTS = {
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
}
"""Options with several values: pip separates them by white space, the variable of uv as given here."""
_FLAGS = {"no-index": "--no-index", "no-cache-dir": "--no-cache", "compile": "--compile-bytecode"}
_TRUE = ("1", "true", "yes", "on", "y", "t")
_NO_EFFECT = {
    *("break-system-packages", "cache-dir", "disable-pip-version-check", "format", "log", "no-color", "no-input"),
    *("no-python-version-warning", "no-warn-script-location", "progress-bar", "quiet", "require-virtualenv"),
    *("root-user-action", "use-feature", "verbose"),
}
"""Options that change nothing of what is installed, or from where."""


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Progress:
    """Prints what an installer does at regular intervals, also while it prints nothing."""

    def __init__(self, packages: int, pause: float = _PAUSE) -> None:
        """Start with the maximum number of packages; some are for other systems."""
        self._packages, self._pause = packages, pause
        self._count = 0
        self._status = "asking for packages"
        self._begun = time.monotonic()
        self._ended = threading.Event()
        self._reporter = threading.Thread(target=self._tell, daemon=True)
        self._reporter.start()

    def hear(self, line: str) -> None:
        if match := _PACKAGE.match(line):
            self._count += 1
            self._status = f"package {self._count} of up to {self._packages}: {match[1]}"
        elif match := _UV_DOWNLOAD.match(line):
            self._status = f"downloading {match[1]}"
        elif line.startswith("Prepared "):
            self._status = f"unpacking {self._packages} packages"
        elif line.startswith("Installing collected packages"):
            self._status = f"unpacking {self._count} packages"

    def _tell(self) -> None:
        while not self._ended.wait(self._pause):
            _print(f"  {self._status} ({time.monotonic() - self._begun:.0f} s)")

    def end(self) -> float:
        """Stop printing, and return the duration in seconds."""
        self._ended.set()
        self._reporter.join()
        return time.monotonic() - self._begun


def pip_options() -> dict[str, str]:
    """Return pip's configuration: files, overridden by their sections for ``install``, overridden by variables."""
    config = subprocess.run([*_PIP, "config", "list"], capture_output=True, text=True, check=False)
    options: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for line in config.stdout.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(f"{section}."):
                options[name.removeprefix(f"{section}.")] = str(ast.literal_eval(value))
    return options


def unknown_to_uv(options: Mapping[str, str]) -> list[str]:
    """Return the options that may change what is installed, and that uv does not have."""
    return sorted(options.keys() - _SINGLE.keys() - _LISTS.keys() - _FLAGS.keys() - _NO_EFFECT)


def for_uv(options: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the words and the variables with which uv does what pip is configured for.

    Addresses are variables, because they may contain passwords, and any user can list the words of a process.
    """
    # As pip does: the system's certificates, and the best version of any index; hashes decide what is installed.
    variables = {"UV_SYSTEM_CERTS": "1", "UV_INDEX_STRATEGY": "unsafe-best-match"}
    variables |= {_SINGLE[option]: value for option, value in options.items() if option in _SINGLE}
    for option, (name, separator) in _LISTS.items():
        if option in options:
            variables[name] = separator.join(options[option].split())
    # A variable for one protocol is preferred to ALL_PROXY, and pip's option to all of them.
    if "proxy" in options:
        variables |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), options["proxy"])
    words = [word for option, word in _FLAGS.items() if options.get(option, "").lower() in _TRUE]
    return words, variables


def _run(command: Sequence[str], variables: Mapping[str, str], progress: Progress) -> tuple[int, str]:
    """Run an installer, and return its exit code and the end of its output."""
    output = []
    environment = {**os.environ, **variables}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            output.append(line)
            progress.hear(line)
    return process.returncode, "".join(output[-_LAST:])


def _with_uv(files: Sequence[str], progress: Progress, *, compiled: bool) -> str | None:
    """Install by uv, and return why that was not possible."""
    options = pip_options()
    if unknown := unknown_to_uv(options):
        return f"uv has no counterpart of what pip is configured for: {', '.join(unknown)}"
    words, variables = for_uv(options)
    get_uv = (*_PIP_INSTALL, "--quiet", "--only-binary=:all:", "--no-deps", "-r", str(_INSTALLER))
    code, output = _run(get_uv, {}, progress)
    if code:
        last = output.strip().rpartition("\n")[2]
        return f"uv cannot be installed: {last}"
    code, output = _run([*_UV_INSTALL, *words, *["--compile-bytecode"] * compiled, *files], variables, progress)
    return f"uv failed:\n{output.rstrip()}" if code else None


def main(locks: Sequence[Path], pause: float = _PAUSE, *, compiled: bool = False) -> int:
    """Install, and return the exit code; on failure, print the end of the installer's output."""
    texts = [lock.read_text(encoding="utf-8") for lock in locks]
    packages = sum(len(re.findall(r"^[\w.\[\]-]+==", text, re.MULTILINE)) for text in texts)
    files = [word for lock in locks for word in ("-r", str(lock))]
    _print(f"Installing {packages} packages")
    progress = Progress(packages, pause)
    problem = _with_uv(files, progress, compiled=compiled)
    if problem is None:
        _print(f"  done in {progress.end():.0f} s")
        return 0
    _print(f"  {problem}\n  pip installs instead; the first time this takes a few minutes")
    code, output = _run([*_PIP_INSTALL, *files], {}, progress)
    seconds = progress.end()
    if code:
        sys.stderr.write(output)
    else:
        _print(f"  done in {seconds:.0f} s")
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", nargs="+", type=Path, help="lock file with hashes")
    parser.add_argument(
        "--compile", action="store_true", help="compile all modules, for an environment that is copied"
    )
    arguments = parser.parse_args()
    sys.exit(main(arguments.lock, compiled=arguments.compile))
