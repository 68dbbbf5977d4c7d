"""Charts that only clusters of one cloud have, by cloud."""

from collections.abc import Iterable, Iterator, Mapping

from ....clouds.aws.names import ROLE_ANNOTATION as AWS_ROLE
from ...aws.charts import ON_AWS, OnAws
from ...aws.charts import missing_facts as missing_on_aws
from ..site import Site

OnCloud = OnAws
"""Creates a component that requires facts about the cluster."""
COMPONENTS: Mapping[str, OnCloud] = {
    **ON_AWS,
}
"""Component by chart."""
_MISSING = (missing_on_aws,)
ROLE_ANNOTATION = AWS_ROLE
"""Annotation with which a service account names its role. :class:`~..site.Site` has roles only on AWS."""


def missing_facts(site: Site, charts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the facts about a cluster that charts require and that are missing, as argument and reason."""
    installed = list(charts)
    for missing in _MISSING:
        yield from missing(site, installed)
