"""LeaderWorkerSets in a test's cluster: their kind, and their controller, which is the real one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.contract.schema.crds import crd
from components.resources.prerequisites.custom_resources import installable
from livefleet.daemons import stop_daemon
from livefleet.folder import LiveFolder
from livefleet.groups.part import CONTROLLER, NAME, start_controller
from livefleet.groups.registration import withdraw
from tests.group_pods import API, KIND
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.tools import built_or_skip
from toolkit.kube import Kube
from toolkit.kube.errors import NoSuchKindError

_MANAGER = "test-lws"


@contextmanager
def group_controller(kube: Kube, identity: Path, state: Path) -> Iterator[None]:
    """Run the controller of LeaderWorkerSets in a cluster, with their kind."""
    program = built_or_skip(CONTROLLER)[NAME]
    install_kind(kube)
    folder = LiveFolder(state)
    folder.make()
    start_controller(folder, program, identity, kube)
    try:
        yield
    finally:
        withdraw(kube)
        stop_daemon(folder, NAME)


def install_kind(kube: Kube) -> None:
    """Give the API server the kind."""
    kube.apply(crd(installable().by_name(KIND)), manager=_MANAGER)
    kube.forget()
    eventually(lambda: _is_served(kube), "the kind LeaderWorkerSet")


def _is_served(kube: Kube) -> bool:
    try:
        return bool(kube.resource(API, KIND))
    except NoSuchKindError:
        return False
