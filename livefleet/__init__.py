"""A fleet that answers without a GPU: simulated engines behind simulated pods, a real gateway, real autoscaling.

The names below are all that other packages use of it; what is beside them may change at any time. Each is imported
when it is first used, so that a command which needs none of them does not load it.

From a plan to what is played:

- ``fleet_of``: what is played of a plan, as a ``LiveFleet``: plain data, which can be kept as JSON.
- ``simulated_engine``: one replica of a model on loopback, without a cluster.
- ``put_load``: sends requests to any endpoint with OpenAI's API, and returns what its clients saw.

In a simulated cluster:

- ``LivePlay``: starts what stands behind the pods before a deployment, and what leads to them after it.
- ``Speeds``: how much faster than life that is.
- ``LiveFolder``: where its files are, which fleet it plays, and its addresses on loopback.
- ``call_lines``: lines to paste into a shell that call its models.
- ``live_processes``: the processes that were started for it.
- ``recover``, ``withdraw``, ``stop_live``: take out of the cluster what was left there after a crash, play nothing of
  a stack any more, and stop every process.
- ``live_stages``: how nodes and pods live in a cluster whose pods somebody stands behind.

For a command line:

- ``register_commands``: adds ``load``, ``watch``, ``fault`` and ``speed``.
"""

from typing import TYPE_CHECKING

from components.contract.lazy import lazy_exports

if TYPE_CHECKING:
    from .commands import register_commands as register_commands
    from .curl_examples import call_lines as call_lines
    from .fleet import LiveFleet as LiveFleet
    from .folder import LiveFolder as LiveFolder
    from .kwok_stages import live_stages as live_stages
    from .lifecycle import LivePlay as LivePlay
    from .lifecycle import live_processes as live_processes
    from .lifecycle import recover as recover
    from .lifecycle import stop_live as stop_live
    from .lifecycle import withdraw as withdraw
    from .load.runner import put_load as put_load
    from .option_values import Speeds as Speeds
    from .reading.fleet import fleet_of as fleet_of
    from .standalone import simulated_engine as simulated_engine

SURFACE = {
    "fleet_of": "reading.fleet",
    "LiveFleet": "fleet",
    "simulated_engine": "standalone",
    "put_load": "load.sending",
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
