"""``python -m inplace_magic``: a program of the user's, run under a watch exactly as it runs without one.

It may know how a program is found and started, and what was asked for. What is recorded is decided elsewhere.
"""
