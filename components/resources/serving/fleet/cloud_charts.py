"""The charts that only clusters on a cloud have: one line for each cloud, with the components that install them."""

from collections.abc import Iterable, Iterator, Mapping

from ....clouds.aws.names import ROLE_ANNOTATION as AWS_ROLE
from ...aws.charts import ON_AWS, OnAws
from ...aws.charts import untold_facts as untold_on_aws
from ..site import Site

OnCloud = OnAws
"""A component that takes facts of the cluster from its cloud."""
COMPONENTS: Mapping[str, OnCloud] = {
    **ON_AWS,
}
"""The component of each chart, by its name."""
_UNTOLD = (untold_on_aws,)
ROLE_ANNOTATION = AWS_ROLE
"""By it a service account names its role. :class:`~..site.Site` has roles on AWS alone."""


def untold_facts(site: Site, charts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what charts need to know about a cluster and is not given, as argument and reason."""
    installed = list(charts)
    for untold in _UNTOLD:
        yield from untold(site, installed)
