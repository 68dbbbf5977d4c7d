"""Components that turn model declarations into running, priced and checked fleets.

Import what you use from the sub-packages: ``api`` (resources), ``render`` (pure functions),
``planning`` (checks before anything is created), ``serving`` and ``cluster`` (Pulumi components).
"""
