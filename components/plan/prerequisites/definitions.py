"""CustomResourceDefinitions of the releases that charts install.

Helm creates the definitions in a chart's ``crds`` folder, but neither updates nor deletes them. Those of the charts
with ``crds_once`` are therefore applied before the chart.
"""

from ...contract.kinds import Kind
from ...contract.schema.crds import crd
from ...families import kinds, releases_of
from ...fleet.objects import Object
from .charts import Chart

# The fields of a definition that Helm created belong to its field manager: without force, the API server would refuse
# to change them.
_FORCED = {"pulumi.com/patchForce": "true"}


def definitions_of(chart: Chart, version: str) -> tuple[Object, ...]:
    """Return the definitions to apply before a version of a chart.

    They are those of the newest release that the version installs. Empty if the chart updates its definitions itself,
    or if no release has this version: then the definitions are those that Helm creates.
    """
    return tuple(
        {**body, "metadata": {**body["metadata"], "annotations": _FORCED}}
        for body in map(crd, _kinds(chart, version))
    )


def _kinds(chart: Chart, version: str) -> list[Kind]:
    if not chart.crds_once:
        return []
    installed = [release.name for release in releases_of(chart.family).releases if release.operator == version]
    if not installed:
        return []
    in_release = kinds({chart.family: installed[-1]})
    return [kind for kind in in_release if kind.group in chart.crds and kind.exists]
