"""``kill -9`` at random moments of ``up``; the next ``up`` reaches the same end state, nothing orphaned."""

import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from tests.engine import interrupted
from tests.engine.support import Stack
from workbench.kube import Kube

SCRIPT = Path(__file__).with_name("interrupted.py")
MOMENTS = 10
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


def found(kube: Kube, namespace: str) -> dict[str, str]:
    maps = kube.list("v1", "ConfigMap", namespace)
    return {m["metadata"]["name"]: m["data"]["version"] for m in maps if "version" in m["data"]}


def test_ten_kills_and_the_same_end(live: Stack) -> None:
    chance = random.Random(20260718)
    namespace = "eng-interrupted"
    with Kube.from_kubeconfig(live.kubeconfig) as kube:
        for round_ in range(MOMENTS):
            version = "12"[round_ % 2]
            deploy(live, namespace, version, kill_after=chance.uniform(0.0, LONGEST))
            if round_ % 3 == 2:
                version = "21"[round_ % 2]  # what the killed one began is not wanted any more
            deploy(live, namespace, version)
            assert found(kube, namespace) == dict.fromkeys(interrupted.NAMES[version], version), round_
            web = kube.get("apps/v1", "Deployment", "replaced", namespace)
            assert web["spec"]["selector"]["matchLabels"] == {"version": version}
            rows = live.rows()
            assert set(rows) == {"here", "space", "replaced", *interrupted.NAMES[version]}, round_
            assert not [row for row in rows.values() if row.intent]
            deploy_again = partial(interrupted.program, live, namespace, version)
            assert live.up(deploy_again).changed == 0
        live.destroy()
        assert live.rows() == {}
        assert namespace not in {n["metadata"]["name"] for n in kube.list("v1", "Namespace")}


def test_a_kill_during_destroy_is_taken_up_again(live: Stack) -> None:
    namespace = "eng-destroyed"
    deploy(live, namespace, "1")
    with Kube.from_kubeconfig(live.kubeconfig) as kube:
        from dataclasses import replace

        from workbench.engine.state import Intent, State

        with State(live.folder / "stacks", "dev") as state:  # as a kill between intent and call leaves it
            state.write(replace(row, intent=Intent.DELETING) for row in state.rows().values() if row.cluster)
        kube.delete("v1", "ConfigMap", "c00", namespace)
        live.destroy()
        assert live.rows() == {}
        assert namespace not in {n["metadata"]["name"] for n in kube.list("v1", "Namespace")}
