"""The gateway: the rendered objects, translated by Envoy Gateway's own code, in a real Envoy on loopback."""
