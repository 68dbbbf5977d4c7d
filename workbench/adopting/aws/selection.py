"""Which cluster of a file is meant."""

from collections.abc import Iterable

from components.contract.problems import did_you_mean

from .documents import FileValue


def one_cluster(document: FileValue, names: Iterable[str], wanted: str) -> str:
    """Return the wanted cluster, or the only one.

    Raises:
        WorkbenchError: there is no such cluster, or several and none is named.
    """
    known = sorted(filter(None, names))
    if not known:
        document.fail("has no EKS cluster with a known name; pass the file that creates the cluster, or use --aws")
    if wanted and wanted not in known:
        hint = did_you_mean(wanted, known) or f"; it has {', '.join(known)}"
        document.fail(f"has no EKS cluster {wanted!r}{hint}; correct --cluster-name")
    if not wanted and len(known) > 1:
        document.fail(f"has several EKS clusters: {', '.join(known)}; choose one with --cluster-name")
    return wanted or known[0]
