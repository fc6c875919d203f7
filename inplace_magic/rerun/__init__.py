"""A second run of a program, on copies of its variables: the program, its outcome, its cost.

It may know torch, the code that will run and every variable that the code can reach. It leaves variables, generators
and settings as they were, and judges nothing: comparisons and proofs do.
"""
