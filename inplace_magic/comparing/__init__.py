"""Two variants of a program side by side: :mod:`.compare` makes a :class:`.comparison.Comparison`."""
