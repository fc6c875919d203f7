"""``python -m inplace_magic``: run the user's program under a watch exactly as without one.

It may know how a program is found and started, and its options. It does not decide what is recorded.
"""
