"""The front door: the rendered gateway, translated by Envoy Gateway's own code, in a real Envoy on loopback."""
