"""Envoy's configuration: translated from the objects, adapted to loopback, and served over xDS."""
