"""How engines use the memory of accelerators: ``memory.yaml`` in an engine's folder, and its reader."""
