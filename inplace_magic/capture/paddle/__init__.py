"""What is particular to Paddle: where its operations stand, what they do, what its tensors and nodes tell."""
