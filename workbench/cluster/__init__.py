"""The simulated cluster: a real control plane on loopback, with nodes simulated by kwok."""
