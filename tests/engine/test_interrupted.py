"""``kill -9`` at random moments of ``up`` and ``destroy``; the next run reaches its end, nothing lost or orphaned."""

import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from tests.engine import interrupted
from tests.engine.support import Stack
from toolkit.kube import Kube

SCRIPT = Path(__file__).with_name("interrupted.py")
MOMENTS = int(os.environ.get("INFERENCE_PLATFORM_KILLS", "3"))
LONGEST = 0.8
"""Seconds that an ``up`` takes here, roughly; a kill after its end is a moment like any other."""


def deploy(stack: Stack, namespace: str, version: str, kill_after: float | None = None) -> None:
    command = [sys.executable, str(SCRIPT), str(stack.folder), stack.kubeconfig, namespace, version]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=SCRIPT.parents[2]
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "ready\n"
        if kill_after is None:
            assert process.wait(120) == 0, process.stderr.read()
            return
        time.sleep(kill_after)
        process.kill()


def found(kube: Kube, namespace: str) -> dict[str, tuple[str, str]]:
    """The objects there are, with their namespace and version."""
    return {
        one["metadata"]["name"]: (suffix, one["data"]["version"])
        for suffix in "ab"
        for one in kube.list("v1", "ConfigMap", interrupted.place(namespace, suffix))
        if "version" in one["data"]
    }


def namespaces(kube: Kube, namespace: str) -> set[str]:
    names = {one["metadata"]["name"] for one in kube.list("v1", "Namespace")}
    return {name.removeprefix(f"{namespace}-") for name in names if name.startswith(f"{namespace}-")}


def assert_ended(live: Stack, kube: Kube, namespace: str, version: str) -> None:
    """Everything of a version is there, and nothing else, in the cluster and in the state."""
    wanted = interrupted.VERSIONS[version]
    where = interrupted.WITH_DEPLOYMENT.get(version, "")
    assert found(kube, namespace) == {name: (suffix, version) for name, suffix in wanted.items()}
    spaces = {*wanted.values(), *where}
    assert namespaces(kube, namespace) == spaces
    rows = live.rows()
    fixed = {"here", "replaced", *(f"space-{suffix}" for suffix in spaces)} if version != "0" else set()
    assert set(rows) == {*fixed, *wanted}
    assert not [row for row in rows.values() if row.intent]
    if where:
        web = kube.get("apps/v1", "Deployment", "replaced", interrupted.place(namespace, where))
        assert web["spec"]["selector"]["matchLabels"] == {"version": version}


def test_kills_and_the_same_end(live: Stack) -> None:
    """Each round begins a version, kills it, and goes on with it or with another one."""
    chance = random.Random(20260718)
    namespace = "eng-interrupted"
    with Kube.from_kubeconfig(live.kubeconfig) as kube:
        version = "0"
        for round_ in range(MOMENTS):
            begun = chance.choice([other for other in interrupted.VERSIONS if other != version])
            deploy(live, namespace, begun, kill_after=chance.uniform(0.0, LONGEST))
            version = begun if round_ % 3 else chance.choice(list(interrupted.VERSIONS))
            deploy(live, namespace, version)
            assert_ended(live, kube, namespace, version)
            if version != "0":
                assert live.up(partial(interrupted.program, live, namespace, version)).changed == 0
        live.destroy()
        assert_ended(live, kube, namespace, "0")


def test_a_kill_during_destroy_is_taken_up_again(live: Stack) -> None:
    namespace = "eng-destroyed"
    deploy(live, namespace, "1")
    with Kube.from_kubeconfig(live.kubeconfig) as kube:
        from dataclasses import replace

        from workbench.engine.state import Intent, State

        with State(live.folder / "stacks", "dev") as state:  # as a kill between intent and call leaves it
            state.write(replace(row, intent=Intent.DELETING) for row in state.rows().values() if row.cluster)
        kube.delete("v1", "ConfigMap", "c00", interrupted.place(namespace, "a"))
        live.destroy()
        assert_ended(live, kube, namespace, "0")
