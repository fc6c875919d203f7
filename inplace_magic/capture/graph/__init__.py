"""The autograd graph of a watch: facts of nodes, limits for looking at them, what a backward was asked for and gave.

It may know nodes through the functions that a framework hands in. It unpacks no saved tensor, holds no node beyond a
call, and does not know ``recorder.py``.
"""
