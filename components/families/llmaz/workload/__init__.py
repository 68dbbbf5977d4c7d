"""The workload of a Playground or Service: its pods, its replicas and what is made of them."""
