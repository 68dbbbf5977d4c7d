"""How clients outside the cluster reach the models."""
