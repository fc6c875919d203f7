"""A second run of a program, on copies of its variables: what ran, what it left, what it cost."""
