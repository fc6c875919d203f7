"""What hooks tell: forward hooks of the user's that keep activations, and one of ours that optimizers ask."""
