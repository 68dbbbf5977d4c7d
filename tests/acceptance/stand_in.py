"""A stand-in for the Pulumi CLI: it runs programs, keeps files and refuses as the real one does, and deploys nothing.

What it does with backends, passphrases, settings, locks and pending operations is written after pkg/backend/diy,
pkg/secrets/passphrase and pkg/cmd/pulumi of Pulumi 3.259. Each call is recorded as a line of JSON in $STAND_IN_LOG.
With $STAND_IN_KILLED_AT=<part of a URN>, ``up`` kills itself while it creates that resource. Timeouts are stored, and
a change of them changes no resource, because they are no inputs.
"""

import base64
import getpass
import hashlib
import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import yaml
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FAILED = 255


def fail(message: str) -> NoReturn:
    sys.stderr.write(f"error: {message}\n")
    sys.exit(FAILED)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


class Words:
    """A command line: the command, its arguments, its options."""

    valued = ("--stack", "--config-file", "--secrets-provider")
    plain = (
        *("--yes", "--skip-preview", "--create", "--non-interactive", "--json", "--diff", "--expect-no-changes"),
        *("--suppress-outputs", "--show-secrets"),
    )

    def __init__(self, words: list[str]) -> None:
        self.arguments: list[str] = []
        self.options: dict[str, str] = {}
        rest = iter(words)
        for word in rest:
            if word in self.valued:
                self.options[word] = next(rest)
            elif word in self.plain:
                self.options[word] = ""
            elif word.startswith("-"):
                fail(f"unknown flag: {word}")
            else:
                self.arguments.append(word)


def project_folder() -> Path:
    """Found upwards from here, as the real one does."""
    here = Path.cwd()
    found = next((folder for folder in (here, *here.parents) if (folder / "Pulumi.yaml").is_file()), None)
    return found or fail("no Pulumi.yaml project file found")


def passphrase() -> str:
    if "PULUMI_CONFIG_PASSPHRASE" in os.environ:
        return os.environ["PULUMI_CONFIG_PASSPHRASE"]
    if file := os.environ.get("PULUMI_CONFIG_PASSPHRASE_FILE"):
        return Path(file).read_text().strip()
    fail(
        "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables"
    )


def cipher(phrase: str, salt: bytes) -> AESGCM:
    return AESGCM(hashlib.pbkdf2_hmac("sha256", phrase.encode(), salt, 1_000_000, 32))


def new_salt() -> str:
    salt, nonce = secrets.token_bytes(8), secrets.token_bytes(12)
    sealed = cipher(passphrase(), salt).encrypt(nonce, b"pulumi", None)
    return ":".join(["v1", b64(salt), "v1", b64(nonce), b64(sealed)])


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def check_salt(state: str) -> None:
    _, salt, _, nonce, sealed = state.split(":")
    try:
        cipher(passphrase(), base64.b64decode(salt)).decrypt(base64.b64decode(nonce), base64.b64decode(sealed), None)
    except InvalidTag:
        fail("getting stack configuration: get stack secrets manager: incorrect passphrase")


class Settings:
    """Pulumi.<stack>.yaml, or the file that --config-file names; saved as a whole once a key is added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = (yaml.safe_load(path.read_text()) if path.is_file() else None) or {}

    def unlock(self) -> None:
        if self.content.get("secretsprovider"):
            return
        if salt := self.content.get("encryptionsalt"):
            check_salt(salt)
            return
        self.content["encryptionsalt"] = new_salt()
        config = self.content.get("config") or {}
        texts = {key: json.dumps(v) if isinstance(v, bool) else v for key, v in config.items()}
        self.path.write_text(yaml.safe_dump({**self.content, "config": texts}))


class Backend:
    """A folder: $PULUMI_BACKEND_URL/.pulumi."""

    def __init__(self, project: str, stack: str) -> None:
        url = urlsplit(os.environ.get("PULUMI_BACKEND_URL", ""))
        if url.scheme != "file":
            fail("PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions")
        folder = Path(unquote(url.path))
        if not folder.is_dir():
            fail(f"unable to open bucket {url.geturl()}: stat {folder}: no such file or directory")
        self.state = folder / ".pulumi" / "stacks" / project / f"{stack}.json"
        self.locks = folder / ".pulumi" / "locks" / "organization" / project / stack

    def load(self) -> dict[str, Any]:
        if not self.state.exists():
            fail(f"no stack named '{self.state.stem}' found")
        found: dict[str, Any] = json.loads(self.state.read_text())
        return found

    def save(self, deployment: dict[str, Any]) -> None:
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.state.write_text(json.dumps(deployment))

    @contextmanager
    def locked(self) -> Iterator[None]:
        self.locks.mkdir(parents=True, exist_ok=True)
        others = list(self.locks.glob("*.json"))
        if others:
            fail(
                f"the stack is currently locked by {len(others)} lock(s). Either wait for the other process(es) to "
                "end or delete the lock file with `pulumi cancel`."
            )
        lock = self.locks / f"{secrets.token_hex(8)}.json"
        lock.write_text(json.dumps(lock_content(os.getpid())))
        yield
        lock.unlink()


def lock_content(pid: int, host: str = "") -> dict[str, Any]:
    """What the real one writes."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "321Z")
    return {"pid": pid, "username": getpass.getuser(), "hostname": host or socket.gethostname(), "timestamp": now}


def run_program(folder: Path, stack: str, settings: Settings) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Run the program; return its resources and what it exports."""
    from components.contract.texts.go_durations import seconds_of
    from workbench.engine.local import LocalEngine
    from workbench.engine.project import load_project
    from workbench.engine.values import masked

    config = {key: v if isinstance(v, str) else json.dumps(v) for key, v in settings.content["config"].items()}
    graph = LocalEngine(load_project(folder, stack, config), folder).record(preview=True)
    root = {"urn": graph.root, "custom": False, "type": "pulumi:pulumi:Stack", "inputs": {}}
    found = [
        {
            "urn": n.urn,
            "custom": n.registration.custom,
            "type": n.registration.type,
            "inputs": masked(n.inputs),
            "customTimeouts": {verb: int(seconds_of(text)) for verb, text in n.registration.timeouts.items()},
        }
        for n in graph.nodes.values()
    ]
    return json.loads(json.dumps([root, *found], default=str)), masked(graph.exports)


class Cli:
    """The commands."""

    def __init__(self, words: list[str]) -> None:
        self.words = Words(words)
        self.folder = project_folder()
        self.project = str(yaml.safe_load((self.folder / "Pulumi.yaml").read_text())["name"])
        self.command, *self.arguments = self.words.arguments
        self.is_group = self.command == "stack"
        named = self.arguments[1:] if self.is_group else self.arguments
        self.stack = (self.words.options.get("--stack") or next(iter(named), None)) or fail("no stack selected")
        self.backend = Backend(self.project, self.stack)
        given = self.words.options.get("--config-file")
        self.settings = Settings(Path(given) if given else self.folder / f"Pulumi.{self.stack}.yaml")

    def run(self) -> None:
        verb = f"{self.command} {self.arguments[0]}" if self.is_group else self.command
        commands = {
            "stack select": self.select, "stack output": self.output, "stack export": self.export,
            "stack import": self.import_,
            "up": self.up, "preview": self.preview, "destroy": self.destroy, "cancel": self.cancel,
        }  # fmt: skip
        commands.get(verb, lambda: fail(f"unknown command {verb!r}"))()

    def select(self) -> None:
        if self.backend.state.exists():
            return
        if "--create" not in self.words.options:
            fail(f"no stack named '{self.stack}' found")
        with self.backend.locked():
            self.settings.unlock()
            self.backend.save({"resources": [], "outputs": {}})

    def output(self) -> None:
        say(json.dumps(self.backend.load()["outputs"], indent=2))

    def export(self) -> None:
        deployment = self.backend.load()
        deployment.pop("outputs")
        say(json.dumps({"version": 3, "deployment": deployment}, indent=4))

    def import_(self) -> None:
        """Pending operations are dropped, whatever the file says: SaveSnapshot in pkg/cmd/pulumi/stack/io.go."""
        given = json.load(sys.stdin)["deployment"]
        with self.backend.locked():
            self.backend.save({**self.backend.load(), **given, "pending_operations": []})
        say("Import complete.")

    def preview(self) -> None:
        before = self.backend.load()
        self.settings.unlock()
        resources, _ = run_program(self.folder, self.stack, self.settings)
        known = {each["urn"]: each["inputs"] for each in before["resources"] if each["custom"]}
        components = {each["urn"] for each in before["resources"] if not each["custom"]}
        created = sum(each["urn"] not in {*known, *components} for each in resources)
        updated = sum(each["urn"] in known and known[each["urn"]] != each["inputs"] for each in resources)
        deleted = len({*known, *components} - {each["urn"] for each in resources})
        same = len(resources) - created - updated
        summary = {"create": created, "update": updated, "delete": deleted, "same": same}
        steps = list(steps_of(before["resources"], resources))
        say(json.dumps({"steps": steps, "changeSummary": {key: count for key, count in summary.items() if count}}))

    def up(self) -> None:
        self._ask()
        before = self.backend.load()
        self.settings.unlock()
        with self.backend.locked():
            resources, outputs = run_program(self.folder, self.stack, self.settings)
            self._kill(before, resources)
            self.backend.save({"resources": resources, "outputs": outputs, "pending_operations": begun_in(before)})
        same = without_timeouts(before["resources"]) == without_timeouts(resources)
        if "--expect-no-changes" in self.words.options and not same:
            fail("no changes were expected but changes occurred")
        say(f"Resources:\n    {len(resources)} {'unchanged' if same else 'created'}")

    def destroy(self) -> None:
        self._ask()
        before = self.backend.load()
        self.settings.unlock()
        with self.backend.locked():
            self.backend.save({"resources": [], "outputs": {}, "pending_operations": begun_in(before)})
        say(f"Resources:\n    - {len(before['resources'])} deleted")

    def cancel(self) -> None:
        for lock in self.backend.locks.glob("*.json"):
            lock.unlink()

    def _ask(self) -> None:
        """Without a preview nothing is asked."""
        if not {"--yes", "--skip-preview"} & set(self.words.options):
            fail("--yes or --skip-preview must be passed in to proceed when running in non-interactive mode")

    def _kill(self, before: dict[str, Any], resources: list[dict[str, Any]]) -> None:
        part = os.environ.get("STAND_IN_KILLED_AT")
        for position, each in enumerate(resources):
            if part and part in each["urn"]:
                pending = [*begun_in(before), {"type": "creating", "resource": each}]
                self.backend.save({**before, "resources": resources[:position], "pending_operations": pending})
                os.kill(os.getpid(), signal.SIGKILL)


def without_timeouts(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "customTimeouts"} for each in resources]


def steps_of(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What differs, in the form of PreviewStep in sdk/go/common/display/json.go."""
    known, today = ({each["urn"]: each for each in resources} for resources in (before, after))
    for urn, new in today.items():
        old = known.get(urn)
        if old is None:
            yield {"op": "create", "urn": urn, "newState": new}
        elif old["inputs"] != new["inputs"]:
            names = sorted(key for key in new["inputs"] if old["inputs"].get(key) != new["inputs"][key])
            yield {"op": "update", "urn": urn, "oldState": old, "newState": new, "diffReasons": names}
    yield from ({"op": "delete", "urn": urn, "oldState": old} for urn, old in known.items() if urn not in today)


def begun_in(deployment: dict[str, Any]) -> list[dict[str, Any]]:
    """Creations that were cut off stay in the state through every command: pkg/backend/journal.go."""
    return [each for each in deployment.get("pending_operations", []) if each["type"] == "creating"]


def record(words: list[str]) -> None:
    env = {key: value for key, value in os.environ.items() if key.startswith("PULUMI_")}
    with Path(os.environ["STAND_IN_LOG"]).open("a") as log:
        log.write(json.dumps({"words": words, "cwd": str(Path.cwd()), "env": env}) + "\n")


def main() -> None:
    record(sys.argv[1:])
    Cli(sys.argv[1:]).run()
