"""``workbench dev build-pulumi``: the Pulumi CLI and its Kubernetes provider for machines without them."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("build-pulumi")(build_pulumi)


def build_pulumi() -> None:
    """Build the Pulumi CLI and its Kubernetes provider from pinned Go modules, once for all clones.

    They are for `--engine pulumi` where no pulumi is on the PATH, and for `make test-engine`. The first build takes
    about 15 minutes on two cores, and 3 GB of memory. Programs on AWS also need the provider of AWS, which the CLI
    downloads.
    """
    from rich.console import Console

    from .cluster.commands import shown_progress
    from .engine.programs import ensure_built

    console = Console(stderr=True, highlight=False, markup=False)
    with shown_progress(console, first="building the Pulumi CLI") as progress:
        folder = ensure_built(progress)
    typer.echo(folder)
