"""Render a hand-written LeaderWorkerSet, which is a Kubernetes object already and is passed through unchanged."""

from ...contract.findings.collector import Findings
from ...contract.load import LoadedResource
from ...fleet.arguments import check_arguments
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.rendered import Rendered
from ...fleet.serving import as_manifest, check_containers, require_containers, server_of
from ...fleet.shapes import LEADER_WORKER_SET
from ...fleet.workloads import Workload
from ...fleet.written import pod_demands
from .rules import topology_violations

TEMPLATE = "spec.leaderWorkerTemplate"


def render(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    """Return the object unchanged, with its pods as a workload that metrics and hardening can use.

    Raises:
        Unrenderable: a template has no containers; it is in ``findings``.
    """
    body = as_manifest(source, options)
    template = body["spec"]["leaderWorkerTemplate"]
    require_containers(template, TEMPLATE, findings)
    for path, reason in topology_violations(body["metadata"].get("annotations") or {}, template):
        findings.error(path, reason)
    check_containers(template, TEMPLATE, findings)
    front = LEADER_WORKER_SET.pod_templates(body)[0]
    server = server_of(front.body["spec"]["containers"], source, f"{front.field.path}.spec.containers")
    check_arguments(server, front.body["spec"]["containers"][server.position], findings)
    workload = Workload(
        body=body,
        server=server,
        port=0,
        replicas=body["spec"].get("replicas", 1),
        pods=pod_demands(body, LEADER_WORKER_SET, source),
        model=source.name,
        origin=Origin(source),
    )
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        body["metadata"]["namespace"],
        workloads=(workload,),
        requires=LEADER_WORKER_SET.requires,
    )
