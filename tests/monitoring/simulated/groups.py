"""The kind of LeaderWorkerSets in a test's cluster; ``workbench/live/pods/groups`` plays their controller."""

from components.contract.schema.crds import crd
from components.resources.prerequisites.custom_resources import installable
from tests.monitoring.programs.daemon import eventually
from workbench.kube import Kube
from workbench.kube.errors import NoSuchKindError
from workbench.live.pods.groups.pods import API, KIND

_MANAGER = "test-lws"


def install_kind(kube: Kube) -> None:
    """Give the API server the kind."""
    kube.apply(crd(installable().one(KIND)), manager=_MANAGER)
    kube.forget()
    eventually(lambda: _is_served(kube), "the kind LeaderWorkerSet")


def _is_served(kube: Kube) -> bool:
    try:
        return bool(kube.resource(API, KIND))
    except NoSuchKindError:
        return False
