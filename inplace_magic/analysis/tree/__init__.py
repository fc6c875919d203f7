"""The parts of the tree of calls: loops, modules, passes that look alike, gaps.

It may know calls, places and the modules of a record. It does not decide which part is drawn open
(``analysis/folding.py``), and does not know ``call_tree.py``, which puts the parts together.
"""
