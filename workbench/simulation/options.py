"""Options about the requests of traces, of ``simulate --fleet`` and ``plan``."""

from typing import Annotated

import typer

TraceShares = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL=N",
        help="Relative number of requests that a model gets of a trace without a model. Can be repeated. Defaults to "
        "an equal share of each model without a trace of its own.",
    ),
]
TraceScale = Annotated[
    float, typer.Option(metavar="N", min=0.001, max=1000.0, help="Factor of the number of requests of the traces.")
]
