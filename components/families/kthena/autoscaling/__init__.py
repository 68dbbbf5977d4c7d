"""What policies and bindings become: autoscalers."""
