"""Measure the first hour: a fresh clone of the last commit, empty caches, and ``make up`` until everything answers.

    python tools/measure_start.py                      # minutes at each step, and CPU minutes
    python tools/measure_start.py --wheels dist        # with the wheels of make dist, without Go

Nothing else should run meanwhile: the figures of the README come from three runs on two quiet cores. The clone, the
caches and the cluster are deleted at the end. The caches of a proxy or mirror of a registry remain.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_POLL_SECONDS = 0.5
_REQUEST_SECONDS = 5
_SETTINGS = {"PIP_CONFIG_FILE": "pip/pip.conf", "UV_CONFIG_FILE": "uv/uv.toml", "GOENV": "go/env"}
"""Settings of users, such as mirrors, which are kept: only caches are empty."""


def main() -> int:
    """Run ``make up`` and print a table. Exit code 1 if a step was not reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="folder with the wheels of inference-platform-cluster")
    parser.add_argument("--stack", default="local", help="stack to deploy (default: local)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-hour-", ignore_cleanup_errors=True) as place:
        home = Path(place)
        clone = home / "clone"
        _run(["git", "clone", "--quiet", str(ROOT), str(clone)], ROOT, os.environ)
        try:
            return _measure(clone, _environment(home, with_go=args.wheels is None), args.stack, args.wheels)
        finally:
            _run(["make", "down"], clone, _environment(home, with_go=False))
            _make_deletable(home)


def _measure(clone: Path, environment: Mapping[str, str], stack: str, wheels: Path | None) -> int:
    steps: dict[str, float] = {}
    begin = time.monotonic()
    log = (clone.parent / "up.log").open("w")
    if wheels:
        _run(["make", "env"], clone, environment)
        files = [str(path.resolve()) for path in sorted(wheels.glob("inference_platform_cluster*.whl"))]
        _run([".venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", *files], clone, environment)
    waiting: dict[str, Callable[[], bool]] = {
        "environment ready": (clone / ".venv/.installed").exists,
        "control plane ready": lambda: "simulated cluster: " in (clone.parent / "up.log").read_text(),
        "first model answers": lambda: bool(_answering(clone)),
        "gateway answers": lambda: _gateway_answers(clone),
        "Prometheus ready": lambda: _is_ok(f"{_addresses(clone)['prometheus']}/-/ready"),
    }
    with subprocess.Popen(
        ["make", "up", f"STACK={stack}"], cwd=clone, env=environment, stdout=log, stderr=subprocess.STDOUT
    ) as child:
        while child.poll() is None:
            for name in [name for name in waiting if name not in steps]:
                if _holds(waiting[name]):
                    steps[name] = time.monotonic() - begin
            time.sleep(_POLL_SECONDS)
    for name in [name for name in waiting if name not in steps and _holds(waiting[name])]:
        steps[name] = time.monotonic() - begin
    steps["make up ends"] = time.monotonic() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    for name, seconds in sorted(steps.items(), key=lambda step: step[1]):
        sys.stdout.write(f"{name:22} {seconds / 60:6.1f} min\n")
    sys.stdout.write(f"{'CPU':22} {(used.ru_utime + used.ru_stime) / 60:6.1f} min on {os.cpu_count()} cores\n")
    missing = [name for name in waiting if name not in steps]
    if missing or child.returncode:
        output = (clone.parent / "up.log").read_text()[-3000:]
        sys.stderr.write(f"error: not reached: {', '.join(missing) or 'the end'}; the end of the output:\n{output}")
        return 1
    return 0


def _environment(home: Path, *, with_go: bool) -> dict[str, str]:
    """Return an environment in which every cache is empty; without Go also one without the folders of Go."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    kept = {name: str(config / file) for name, file in _SETTINGS.items() if (config / file).is_file()}
    folders = os.environ.get("PATH", "").split(os.pathsep)
    path = [folder for folder in folders if with_go or not Path(folder, "go").exists()]
    own = {"HOME": home, "XDG_CACHE_HOME": home / "cache", "GOCACHE": home / "go-build", "GOPATH": home / "go"}
    own |= {"GOMODCACHE": home / "go/pkg/mod", "PIP_CACHE_DIR": home / "pip", "UV_CACHE_DIR": home / "uv"}
    inherited = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    return {**kept, **inherited, **{name: str(folder) for name, folder in own.items()}, "PATH": os.pathsep.join(path)}


def _addresses(clone: Path) -> dict[str, Any]:
    """Return the addresses of the live fleet."""
    addresses: dict[str, Any] = {}
    for file in clone.glob(".workbench/live/addresses-*.json"):
        addresses |= json.loads(file.read_text())
    return addresses


def _answering(clone: Path) -> str:
    """Return a model that answers a question at its own address; empty if none does."""
    for url in _addresses(clone).get("endpoints", {}).values():
        with contextlib.suppress(OSError, ValueError, LookupError):
            (model, *_) = json.load(_opened(f"{url}/models"))["data"]
            if _chats(url, model["id"], ""):
                return str(model["id"])
    return ""


def _gateway_answers(clone: Path) -> bool:
    """Whether a model answers through the gateway. A gateway has a part of the models; any of them will do."""
    addresses = _addresses(clone)
    key_file = clone / ".workbench/live/key"
    key = key_file.read_text().strip() if key_file.exists() else ""
    url = f"{addresses['door'].rstrip('/').removesuffix('/v1')}/v1"
    for endpoint in addresses["endpoints"].values():
        with contextlib.suppress(OSError, ValueError, LookupError):
            for model in json.load(_opened(f"{endpoint}/models"))["data"]:
                if _chats(url, model["id"], key):
                    return True
    return False


def _chats(url: str, model: str, key: str) -> bool:
    question = {"model": model, "max_tokens": 4, "messages": [{"role": "user", "content": "Why is the sky blue?"}]}
    answer = json.load(_opened(f"{url}/chat/completions", json.dumps(question).encode(), key))
    return bool(answer["choices"][0]["message"]["content"])


def _is_ok(url: str) -> bool:
    return bool(_opened(url).status == 200)


def _opened(url: str, body: bytes | None = None, key: str = "") -> Any:  # noqa: ANN401
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(url, body, headers)  # noqa: S310
    return urllib.request.urlopen(request, timeout=_REQUEST_SECONDS)  # noqa: S310


def _holds(condition: Callable[[], bool]) -> bool:
    # Files and servers that do not exist yet.
    with contextlib.suppress(OSError, ValueError, LookupError):
        return condition()
    return False


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(command, cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL)


def _make_deletable(folder: Path) -> None:
    """Go's cache of modules is read-only."""
    for name, folders, _ in os.walk(folder):
        for each in (Path(name), *(Path(name, one) for one in folders)):
            if not each.is_symlink():
                each.chmod(stat.S_IRWXU)
    shutil.rmtree(folder / "go", ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
