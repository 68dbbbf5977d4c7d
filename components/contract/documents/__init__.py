"""YAML in and out: positions of every field when reading, the same bytes for the same objects when writing."""
