"""The kind of LeaderWorkerSets in a test's cluster; ``livefleet/pods/groups`` plays their controller."""

from components.contract.schema.crds import crd
from components.resources.prerequisites.custom_resources import installable
from livefleet.pods.groups.pods import API, KIND
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube
from toolkit.kube.errors import NoSuchKindError

_MANAGER = "test-lws"


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
