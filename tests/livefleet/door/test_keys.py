"""Secrets that are created for a door, and deleted with the stack, beside a real API server."""

from pathlib import Path

import pytest

from livefleet.door.keys import delete_created, ensure_keys, secret
from livefleet.door.references import door_objects
from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from livefleet.lifecycle import withdraw
from tests.livefleet.door.test_part import CLIENTS, NAMESPACE, fleet
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

PLACE = (NAMESPACE, "door-clients")
KEYS = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": PLACE[1], "namespace": NAMESPACE}}


@pytest.fixture
def made(cluster: Running, kube: Kube, tmp_path: Path) -> LiveFolder:
    """A live fleet's folder beside the session's cluster, without the Secret."""
    (state := tmp_path / ".workbench").mkdir(mode=0o700)
    (state / "kubeconfig").symlink_to(cluster.kubeconfig)
    folder = LiveFolder(state)
    folder.make()
    kube.delete("v1", "Secret", PLACE[1], NAMESPACE)
    return folder


def test_what_was_created_goes_with_the_stack(made: LiveFolder, kube: Kube) -> None:
    ensure_keys(kube, made, [CLIENTS])
    assert secret(kube, PLACE)
    made.write_fleet(fleet())
    withdraw(made, "t")
    assert secret(kube, PLACE) is None
    assert made.read_fleet() == LiveFleet("t")
    withdraw(made, "t")


def test_the_keys_of_others_stay(made: LiveFolder, kube: Kube) -> None:
    kube.apply({**KEYS, "stringData": {"team": "theirs"}}, manager="kubectl")
    ensure_keys(kube, made, [CLIENTS])
    delete_created(made, [CLIENTS])
    assert set(secret(kube, PLACE) or ()) == {"team"}
    kube.delete("v1", "Secret", PLACE[1], NAMESPACE)


def test_keys_that_somebody_has_added_to_stay(made: LiveFolder, kube: Kube) -> None:
    ensure_keys(kube, made, [CLIENTS])
    kube.apply({**KEYS, "stringData": {"team": "theirs"}}, manager="kubectl")
    delete_created(made, door_objects(fleet()))
    assert set(secret(kube, PLACE) or ()) == {"workbench", "team"}
    kube.delete("v1", "Secret", PLACE[1], NAMESPACE)


def test_where_the_cluster_is_gone_nothing_is_left(tmp_path: Path) -> None:
    folder = LiveFolder(tmp_path / ".workbench")
    folder.make()
    delete_created(folder, [CLIENTS])
    folder.kubeconfig.write_text("apiVersion: v1\n")
    delete_created(folder, [CLIENTS])
