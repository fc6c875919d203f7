"""What knows torch by name: the modes that it calls, what is read off its tensors and nodes."""
