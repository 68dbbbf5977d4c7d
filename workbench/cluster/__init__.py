"""The simulated cluster: a real control plane on loopback, with kwok playing the nodes."""
