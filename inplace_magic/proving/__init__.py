"""A fix tried before it is claimed: the patched program, run on copies, against what its own forward means."""
