"""What ends a step of a pipeline with a message instead of a traceback."""


class PipelineError(Exception):
    """Something that whoever reads the log can act on."""
