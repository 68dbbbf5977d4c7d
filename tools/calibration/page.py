"""What a fit writes: the table of parameters, and the page that compares estimates with points."""

from collections.abc import Mapping, Sequence

from .fitting import ENGINES, OWN, SHARED, Folds, Parameters, Prediction
from .points import Point
from .ranges import Errors, errors_of, worst

Ranges = Mapping[str, Mapping[str, Mapping[str, float]]]
_MEANINGS = {
    "weights": "share of the bandwidth when weights are read",
    "cache": "share of the bandwidth when the KV cache is read",
    "compute": "share of the FLOP/s",
    "passes": "times that a token's hidden state is read or written in a layer, and again for each of its experts",
    "reduce_us": "an all-reduce over NVLink 4 or later, of which a layer has two",
    "layer_us": "overhead of a layer",
    "latent_us": "the same with multi-head latent attention",
    "experts_us": "additional overhead of a layer with experts",
    "token_us": "time of a prompt token before the queue: tokenization, HTTP",
    "overhead": "factor of the engine on the overhead of layers",
    "request_us": "overhead of each request in a step",
    "eager": "overhead of the layers of a step with prompts, as a multiple of that of other steps",
    "latency_ms": "time of a request before the queue",
    "start_ms": "wait of the first request of each client in a benchmark, for a server that has just started",
}


def parameter_file(parameters: Parameters, folds: Mapping[str, Parameters], ranges: Ranges, date: str) -> str:
    """Return the text of ``calibrated.yaml``.

    Args:
        parameters: The fitted parameters.
        folds: Those that were fitted without a family of models, whose span is the doubt of each.
        ranges: The ranges of estimates.
        date: Date of the fit.
    """

    def line(indent: str, key: str, name: str) -> str:
        known = [fold[key] for fold in folds.values()]
        span = f"{min(known):.3g} to {max(known):.3g}"
        return f"{indent}{name}: {parameters[key]:.3g}  # {span}"

    lines = [
        f"# Written by python tools/calibrate_speed.py fit on {date}; docs/speed.md compares it with the points.",
        "# Source: silicon_sample.csv of ai-dynamo/aiconfigurator at 095f58a51 (Apache-2.0), the rows in",
        "# tools/calibration/points.csv, and tests/livefleet/pace/benchmarks.yaml. Behind each parameter is its",
        "# span in fits that had no part of one family of models.",
        "shared:",
        *(line("  ", name, name) for name in SHARED),
        "engines:",
    ]
    for engine in ENGINES:
        lines += [f"  {engine}:", *(line("    ", f"{engine}.{name}", name) for name in OWN)]
    lines += [
        "# Nine of ten points of each accelerator are at most this much faster or slower than estimates that they",
        '# had no part in, and their times to the first token within the factor "first". Others have no points.',
        "ranges:",
    ]
    for engine, known in ranges.items():
        lines.append(f"  {engine}:")
        for generation, factors in known.items():
            values = ", ".join(f"{name}: {value:g}" for name, value in factors.items())
            lines.append(f"    {generation}: {{{values}}}")
    return "\n".join([*lines, ""])


def page(
    points: Sequence[Point],
    present: Sequence[Prediction],
    folds: Folds,
    ranges: Ranges,
    parameters: Parameters,
    date: str,
) -> str:
    """Return the text of ``docs/speed.md``."""
    held = errors_of(points, folds.predictions, ranges)
    fitted = errors_of(points, present, ranges)
    families = len(folds.parameters)
    return f"""# Estimates of speed, and measurements

How far [`size`](sizing.md), [`fit`](fit.md) and [virtual time](virtual-time.md) are from published measurements when
they estimate the speed of a replica. Written by `python tools/calibrate_speed.py fit` on {date}.

{len(points)} runs of servers, most from InferenceX, are compared: rows of `silicon_sample.csv` of
ai-dynamo/aiconfigurator at 095f58a51 (Apache-2.0). A fixed number of clients sends one request after the other.
**Held out** means that the parameters were fitted without all models of the same architecture and size, of which
there are {families}: the error to expect for another model. **Fitted** is with the parameters that the project uses.

| engine | accelerator | runs | between tokens: held out | fitted | in range | first token: held out | fitted | in |
|---|---|--:|--:|--:|--:|--:|--:|--:|
{_rows(held, fitted)}

Errors are medians of the absolute error; "in range" is the share of held-out runs inside the stated range, which
reaches as far as nine of ten runs of each accelerator need. `python tools/calibrate_speed.py measure FILE` prints the
same for other rows.

![Measured and estimated times between tokens](pictures/speed-tokens.svg)

![Measured and estimated times to the first token](pictures/speed-first.svg)

## What the estimate consists of

{len(parameters)} parameters, none of a single model: those of kernels and links are the same for all engines, and
each engine has {len(OWN)} of its own. They are in `livefleet/pace/calibrated.yaml`, with their spans in the held-out
fits.

| parameter | value | meaning |
|---|--:|---|
{_parameter_rows(parameters)}

| engine | {" | ".join(OWN)} |
|---|{"--:|" * len(OWN)}
{_engine_rows(parameters)}

The mean time to the first token of such a run has six parts: the time before the queue, half a step, the own prompt,
prompts of others that arrive together, and two of the **first wave**. All clients send their first request at once:
half of all prompts are before the average one, and they wait for a server that has just started (`start_ms`: kernels
that are compiled or chosen, connections). With ten requests of each client, a tenth of both is in the mean, and most
of it with many clients. Runs of one client at a warm server have first tokens after 30 to 50 ms, where InferenceX has
150 to 200 ms in the mean of SGLang and TensorRT-LLM. A server with steady traffic has no first wave: `size` and
virtual time compute the queue of their own load.

## The farthest runs

| run, farthest of its series | measured, ms between tokens | estimated, held out |
|---|--:|--:|
{_worst_rows(points, folds.predictions)}

- SGLang on B300: one series of ten runs, several times slower than the same model on B200 with as many clients.
- vLLM 0.12 with Qwen3-235B takes over 50 ms on two H200 for 4 to 20 requests alike, and SGLang 17 ms: its steps were
  bound by the host, probably without CUDA graphs, which the rows do not state.
- vLLM 0.12 with Llama 3.1 8B in FP8 computes prompts faster than the share of FLOP/s that other servers reach allows:
  the benchmark probably repeated prompts, and a cache of prefixes had them.
- InferenceX has runs of TensorRT-LLM with speculative decoding that their columns do not tell from others. Where the
  same settings have a run that is 1.25 times slower, the faster one is left out; elsewhere it stays, and is far off.
- TensorRT-LLM 1.0.0rc3 with a small model on eight H100 and 64 clients or more is bound by its host.

## What is left out

Rows that stand for no server, or for one that the estimate does not describe:

- prefill and decode on different servers, and attention with data parallelism;
- accelerators that no instance type has (GB200, GB300), and more ranks than a node has;
- rows that contradict themselves: experts on another number of ranks than attention, a batch that is not the share of
  the concurrency;
- more requests than the cache holds, which wait in a queue;
- no version of the engine, and repeated rows.

Speculative decoding, caches of prefixes and LoRA are not modelled. Ranges exist only for the engines and generations
of accelerators in `calibrated.yaml`, for vLLM on older accelerators, and for llama.cpp: for all others, such as
TensorRT-LLM on A100 or TGI, `fit` and `size` have no estimate of the speed.
"""


def _rows(held: Mapping[tuple[str, str], Errors], fitted: Mapping[tuple[str, str], Errors]) -> str:
    lines = []
    for (engine, device), errors in held.items():
        mine = fitted[engine, device]
        lines.append(
            f"| {engine or 'all'} | {device} | {errors.points} | {errors.between:.1%} | {mine.between:.1%} | "
            f"{errors.between_held:.0%} | {errors.first:.1%} | {mine.first:.1%} | {errors.first_held:.0%} |"
        )
    return "\n".join(lines)


def _parameter_rows(parameters: Parameters) -> str:
    return "\n".join(f"| `{name}` | {parameters[name]:.3g} | {_MEANINGS[name]} |" for name in SHARED)


def _engine_rows(parameters: Parameters) -> str:
    rows = []
    for engine in ENGINES:
        values = " | ".join(f"{parameters[f'{engine}.{name}']:.3g}" for name in OWN)
        rows.append(f"| {engine} | {values} |")
    return "\n".join(rows)


def _worst_rows(points: Sequence[Point], found: Sequence[Prediction]) -> str:
    return "\n".join(
        f"| {point.title} | {point.between_ms:.1f} | {estimate.between_ms:.1f} |"
        for point, estimate in worst(points, found)
    )
