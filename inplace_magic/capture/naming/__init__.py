"""The names that the user has for tensors: which are in sight, and what they lead to; for any framework."""
