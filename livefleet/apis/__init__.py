"""What simulated engines speak: the APIs of the engines, deterministic text, ``/metrics``."""
