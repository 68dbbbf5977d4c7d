"""The clouds that models can run on: a line here, and a folder that keeps everything that only this cloud knows.

The folder has two modules that the package loads when they are first needed: ``cloud_facts``, whose function of that
name returns what the fleet has to know of the cloud (:class:`~..fleet.cloud_facts.CloudFacts`), and ``provider``,
whose function of that name returns what a plan has to know of it (:class:`~..fleet.cloud.CloudProvider`).
"""

CLOUDS = {
    "aws": "clouds.aws",
}
"""By name in settings, the folder of each cloud, relative to the package."""
