"""The number formats that an engine computes on an accelerator: ``formats.yaml`` in the folder of an engine."""
