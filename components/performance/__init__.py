"""How fast models are and how autoscalers behave: sizing and simulation. No word of any family."""
