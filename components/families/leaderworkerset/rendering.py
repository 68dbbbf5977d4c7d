"""A LeaderWorkerSet written by hand is a Kubernetes object already: it is made as it is written."""

from ...contract.findings.collector import Findings
from ...contract.load import LoadedResource
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.rendered import Rendered
from ...fleet.serving import as_manifest, check_containers, require_containers, server_of
from ...fleet.shapes import LEADER_WORKER_SET
from ...fleet.workloads import Workload
from .nodes import TEMPLATE, pods_of
from .rules import topology_broken


def render(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    """Return the object as it is written, with its pods as a workload that metrics and hardening see.

    Raises:
        Unrenderable: a template has no containers; it is in ``findings``.
    """
    body = as_manifest(source, options)
    require_containers(body["spec"]["leaderWorkerTemplate"], TEMPLATE, findings)
    for path, reason in topology_broken(
        body["metadata"].get("annotations") or {}, body["spec"]["leaderWorkerTemplate"]
    ):
        findings.error(path, reason)
    check_containers(body["spec"]["leaderWorkerTemplate"], TEMPLATE, findings)
    front = LEADER_WORKER_SET.pod_templates(body)[0]
    server = server_of(front.body["spec"]["containers"], source, f"{front.field.path}.spec.containers")
    workload = Workload(
        body=body,
        server=server,
        port=0,
        replicas=body["spec"].get("replicas", 1),
        pods=pods_of(body, source),
        model=source.name,
        origin=Origin(source),
    )
    namespace = body["metadata"]["namespace"]
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        namespace,
        workloads=(workload,),
        requires=LEADER_WORKER_SET.requires,
    )
