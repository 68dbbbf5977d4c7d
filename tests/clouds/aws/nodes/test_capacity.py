"""The autoscaler's status in words. Its form: kubernetes/autoscaler, clusterstate/api/types.go and FAQ.md."""

import pytest

from components.clouds.aws.nodes.autoscaler_status import shortages

STATUS = """\
time: 2026-11-23 10:00:00 +0000 UTC
autoscalerStatus: Running
nodeGroups:
- name: eks-p4d
  health:
    status: Healthy
    nodeCounts: {registered: {total: 0, ready: 0, notStarted: 0}, longUnregistered: 0, unregistered: 0}
    cloudProviderTarget: 0
    minSize: 1
    maxSize: 1
  scaleUp:
    status: Backoff
    backoffInfo:
      errorCode: placeholder-cannot-be-fulfilled
      errorMessage: AWS cannot provision any more instances for this node group
- name: eks-g5
  health:
    nodeCounts: {registered: {total: 1, ready: 1, notStarted: 0}}
    cloudProviderTarget: 3
    minSize: 0
    maxSize: 8
  scaleUp: {status: InProgress}
- name: eks-g6
  health:
    nodeCounts: {registered: {total: 2, ready: 2, notStarted: 0}}
    cloudProviderTarget: 2
    minSize: 0
    maxSize: 8
  scaleUp:
    status: Backoff
    backoffInfo: {errorCode: timeout, errorMessage: nodes did not register}
- name: eks-idle
  health: {nodeCounts: {registered: {ready: 0}}, cloudProviderTarget: 0, minSize: 0, maxSize: 8}
  scaleUp: {status: NoActivity}
"""


def test_each_group_without_its_nodes_is_a_sentence() -> None:
    starting, failed, short = shortages(STATUS)
    assert str(starting) == "eks-g5: 1 of 3 nodes are ready; they are being launched, or start"
    assert str(failed) == (
        "eks-g6: 2 of 3 nodes are ready; the Cluster Autoscaler adds none for now: timeout: nodes did not register"
    )
    assert str(short).startswith(
        "eks-p4d: 0 of 1 nodes are ready; EC2 launches no more: placeholder-cannot-be-fulfilled"
    )
    assert "insufficient capacity" in str(short)
    assert "--auto-scaling-group-name eks-p4d" in str(short)


def test_where_all_nodes_are_there_nothing_is_said() -> None:
    idle = STATUS.partition("- name: eks-p4d")[0] + "- name: eks-idle" + STATUS.partition("- name: eks-idle")[2]
    assert shortages(idle) == []
    assert shortages("autoscalerStatus: Initializing\n") == []


OLD = "Cluster-autoscaler status at 2020:\nCluster-wide:"
"""Before version 1.30 it was text for people."""


@pytest.mark.parametrize("status", ["", OLD, "[]", "autoscalerStatus: Running\nnodeGroups: 3", "{"])
def test_what_is_no_status_is_refused(status: str) -> None:
    with pytest.raises(ValueError, match="no status of a Cluster Autoscaler"):
        shortages(status)
