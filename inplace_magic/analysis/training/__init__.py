"""What training carries on: states of weights, running statistics."""
