"""What engines do with the memory of accelerators: ``memory.yaml`` in an engine's folder, and its reader."""
