"""A model fleet without GPUs: simulated engines behind simulated pods, with a real gateway and real autoscaling.

Other packages use the names below only; everything else may change at any time. Names are imported on first use, so
that commands which need none of them start faster.

Without a cluster:

- ``fleet_of``: builds the ``LiveFleet`` of a plan: plain data, which is stored as JSON.
- ``simulated_engine``: serves one replica of a model on loopback.
- ``estimated_pace``: estimates the pace of a replica from its model and its accelerators.
- ``TokenPace``, ``EngineReplica``, ``Job``: the pace of a replica, its batch and queue step by step in virtual time,
  and a request in it.
- ``put_load``: sends requests to an OpenAI-compatible endpoint and returns what its clients saw.

In virtual time:

- ``virtual_fleet``: reads what is simulated from a plan, as a ``VirtualFleet``: plain data.
- ``VirtualTime``: runs fleets under the requests of traces, and returns a ``VirtualResult`` of each.

In a simulated cluster:

- ``LivePlay``: starts the process behind the pods before a deployment, and the gateway and autoscaling after it.
- ``Speeds``: how much faster than real time the fleet is.
- ``LiveFolder``: its files, the current fleet and the loopback addresses.
- ``call_lines``: curl commands that call its models.
- ``live_processes``: its processes.
- ``recover``, ``withdraw``, ``stop_live``: delete what a killed process left in the cluster, stop simulating a stack,
  and stop all processes.
- ``live_stages``: kwok's stages, changed so that pods and nodes wait for the process behind the pods.

For a command line:

- ``register_commands``: adds ``load``, ``watch``, ``fault`` and ``speed``.
"""

from typing import TYPE_CHECKING

from components.contract.lazy import lazy_exports

if TYPE_CHECKING:
    from .commands import register_commands as register_commands
    from .curl_examples import call_lines as call_lines
    from .fleet import LiveFleet as LiveFleet
    from .fleet import TokenPace as TokenPace
    from .folder import LiveFolder as LiveFolder
    from .kwok_stages import live_stages as live_stages
    from .lifecycle import LivePlay as LivePlay
    from .lifecycle import live_processes as live_processes
    from .lifecycle import recover as recover
    from .lifecycle import stop_live as stop_live
    from .lifecycle import withdraw as withdraw
    from .load.runner import put_load as put_load
    from .option_values import Speeds as Speeds
    from .pace.estimates import estimated_pace as estimated_pace
    from .pace.replica import EngineReplica as EngineReplica
    from .pace.replica import Job as Job
    from .reading.fleet import fleet_of as fleet_of
    from .standalone import simulated_engine as simulated_engine
    from .virtual.figures import VirtualResult as VirtualResult
    from .virtual.fleet import VirtualFleet as VirtualFleet
    from .virtual.reading import virtual_fleet as virtual_fleet
    from .virtual.session import VirtualTime as VirtualTime

SURFACE = {
    "fleet_of": "reading.fleet",
    "LiveFleet": "fleet",
    "simulated_engine": "standalone",
    "estimated_pace": "pace.estimates",
    "TokenPace": "fleet",
    "EngineReplica": "pace.replica",
    "Job": "pace.replica",
    "put_load": "load.runner",
    "virtual_fleet": "virtual.reading",
    "VirtualFleet": "virtual.fleet",
    "VirtualTime": "virtual.session",
    "VirtualResult": "virtual.figures",
    "LivePlay": "lifecycle",
    "Speeds": "option_values",
    "LiveFolder": "folder",
    "call_lines": "curl_examples",
    "live_processes": "lifecycle",
    "recover": "lifecycle",
    "withdraw": "lifecycle",
    "stop_live": "lifecycle",
    "live_stages": "kwok_stages",
    "register_commands": "commands",
}
"""Module of each public name."""

__getattr__ = lazy_exports(__name__, SURFACE)
