"""How many of its accelerators a server uses, and what it does not find among them.

Sources: ParallelConfig.world_size of vllm/config/parallel.py and CoreEngineProcManager of vllm/v1/engine/utils.py of
vLLM 0.20 (the ranks of a copy; each copy in this pod takes the next accelerators), launch_dp_schedulers of
sglang/srt/managers/data_parallel_controller.py of SGLang 0.5.9, and of ggml-org/llama.cpp at build 9843
llama_model_load_from_file_impl in src/llama.cpp ("invalid value for main_gpu"), parse_device_list in common/arg.cpp
("invalid device") and llama_model::load_tensors in src/llama-model.cpp, which reads one share for each device.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from .command_line import CommandLine
from .memory_settings.layout import model_layout
from .memory_settings.settings import SettingsReader, UnclearError, Variables, flag_values, variable_values
from .memory_settings.table import Spread, memory_settings_table
from .numbers import parse_decimal
from .scripts.commands import engine_line
from .settings import Setting

_NUMBERED = re.compile(r"[A-Za-z]+(\d+)")
"""A device by its backend and number, such as ``CUDA1``."""
_IN_WORDS = re.compile(r"\$\((\w+)\)")
_IN_SCRIPT = re.compile(r"\$\((\w+)\)|\$\{(\w+)\}|\$(\w+)")
"""Variables, of which a script may also have some of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """The degrees of parallelism of a server.

    Attributes:
        tensor, pipeline: Accelerators of a copy of the model.
        copies: Copies of the model in this pod; those that share the accelerators of one count as one.
        groups: Groups of ranks that run attention in data parallel, which divide the accelerators of a copy.
        is_whole: Whether nothing else may use accelerators, such as settings in a file or copies in other pods.
    """

    tensor: int
    pipeline: int
    copies: int = 1
    groups: int = 1
    is_whole: bool = True

    @property
    def needed(self) -> int:
        return self.tensor * self.pipeline * self.copies


class DeviceFault(NamedTuple):
    """Accelerators that a server is configured to use and does not have.

    Attributes:
        setting: The setting that names them.
        cause: What is wrong with its value.
        value: A value with which the server starts on the accelerators that it has.
        stops: Whether it does not start.
    """

    setting: Setting
    cause: str
    value: str
    stops: bool


class LayerDevices(NamedTuple):
    """The accelerators over which a server divides the layers of its model.

    Attributes:
        used: How many of those that it has.
        setting: The setting that leaves the others out; None if none is left out.
    """

    used: int
    setting: Setting | None = None
    faults: tuple[DeviceFault, ...] = ()


def degrees_of(line: CommandLine, variables: Variables = (), *, more: bool = False) -> Degrees | None:
    """Return the degrees of parallelism of a server; None if they are unknown, or if it divides layers by itself.

    Args:
        line: The command line of the container, which may be in a script.
        variables: The environment variables of the container.
        more: Whether the container has further, unknown variables.
    """
    read = _reader(line, variables, more=more)
    if read is None:
        return None
    settings, own = read
    if settings.table.spread is Spread.LAYERS:
        return None
    try:
        layout = model_layout(settings)
    except UnclearError:
        return None
    if layout.tensor is None or layout.pipeline is None:
        return None
    copies = layout.data
    if own.holds(Setting.LOCAL_COPIES):
        local = own.number_of(Setting.LOCAL_COPIES)
        if local is None:
            return None
        copies = local
    elif own.holds(Setting.OTHER_COPIES):
        copies = 1
    context = own.number_of(Setting.CONTEXT_PARALLEL) or 1
    return Degrees(
        tensor=layout.tensor,
        pipeline=layout.pipeline * context,
        copies=copies,
        groups=layout.groups,
        is_whole=not own.has_unknown_config and not own.holds(Setting.OTHER_COPIES) and _is_known(own),
    )


def _is_known(line: CommandLine) -> bool:
    """Return whether each flag is one of the engine: another program's flags may use accelerators."""
    return line.reading is not None and all(use.flag is not None or use.stray for use in line.reading.uses)


def layer_devices(
    line: CommandLine, count: int, variables: Variables = (), *, more: bool = False
) -> LayerDevices | None:
    """Return over which accelerators a server divides layers; None if that is unknown, or if it divides none.

    Args:
        line: The command line of the container, which may be in a script.
        count: The accelerators of the container.
        variables: The environment variables of the container.
        more: Whether the container has further, unknown variables.
    """
    read = _reader(line, variables, more=more)
    if read is None or read[0].table.spread is not Spread.LAYERS:
        return None
    settings, own = read
    try:
        main, mode = settings.number(Setting.MAIN_DEVICE) or 0, settings.text(Setting.SPLIT_MODE)
        names = [name for name in (settings.text(Setting.DEVICES) or "").split(",") if name]
        split = (settings.text(Setting.TENSOR_SPLIT) or "").replace("/", ",")
    except UnclearError:
        return None
    shares = [share for share in split.split(",") if share]
    found = [_NUMBERED.fullmatch(name) for name in names]
    numbers = [int(match[1]) for match in found if match]
    # Devices without a number are none of these, and those of other machines come before them.
    if len(numbers) < len(names) or own.holds(Setting.REMOTE_DEVICES):
        return None
    missing = [number for number in numbers if number >= count]
    if missing:
        kept = ",".join(name for name, number in zip(names, numbers, strict=True) if number < count)
        value = kept or ",".join(names[0].replace(str(numbers[0]), str(number)) for number in range(count))
        fault = DeviceFault(Setting.DEVICES, f"names device {missing[0]}", value, stops=True)
        return LayerDevices(count, faults=(fault,))
    devices = len(set(numbers)) or count
    setting = Setting.DEVICES if devices < count else None
    faults: list[DeviceFault] = []
    if mode == "none":
        if main >= devices:
            faults.append(DeviceFault(Setting.MAIN_DEVICE, f"is {main}", "0", stops=True))
        return LayerDevices(1, Setting.SPLIT_MODE, tuple(faults))
    if len(shares) > devices:
        cause = f"has {len(shares)} shares, and those after number {devices} are ignored"
        faults.append(DeviceFault(Setting.TENSOR_SPLIT, cause, ",".join(shares[:devices]), stops=False))
    filled = sum(parse_decimal(share) != 0 for share in shares[:devices])
    if shares and 0 < filled < devices:
        devices, setting = filled, Setting.TENSOR_SPLIT
    return LayerDevices(devices, setting, tuple(faults))


def _expanded(line: CommandLine, variables: Variables) -> CommandLine:
    """Return a line with the values of variables, as the kubelet writes them, and a shell into its script."""
    values = {name: value for name, value in variables if value is not None}

    def fill(word: str) -> str:
        return pattern.sub(lambda found: values.get(next(filter(None, found.groups())), found[0]), word)

    pattern = _IN_SCRIPT if line.is_script else _IN_WORDS
    if not values or not any("$" in word for word in line.words):
        return line
    args, command = ([fill(word) for word in words] for words in (line.args, line.command))
    return CommandLine(line.engine, line.tag, args, command, unread=line.unread, config=line.config)


def _reader(line: CommandLine, variables: Variables, *, more: bool) -> tuple[SettingsReader, CommandLine] | None:
    """Return what reads the settings of a server, and the line that it parses; None if another program does."""
    table, own = memory_settings_table(line.engine), engine_line(_expanded(line, variables))
    if table is None or own is None or own.reading is None:
        return None
    values = dict(variable_values(table, variables, more=more))
    return SettingsReader(table, own.tag, flag_values(own, own.reading), values), own
