"""The schemas of kinds: JSON schemas, CustomResourceDefinitions, defaults, and the core types inside them."""
