"""The clouds that models can run on: a line here, and a folder that keeps everything that only this cloud knows.

The folder has two modules that the package loads when they are first needed: ``instances``, whose function
``cloud_nodes`` returns the facts of its nodes (:class:`~..fleet.instances.CloudNodes`), and ``provider``, whose
function ``provider`` returns everything that a plan needs of it (:class:`~..fleet.cloud.CloudProvider`).
"""

CLOUDS = {
    "aws": "clouds.aws",
}
"""By name in settings, the folder of each cloud, relative to the package."""
