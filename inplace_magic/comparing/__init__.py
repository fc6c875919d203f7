"""Two variants of a program side by side: :mod:`.compare` makes a :class:`.comparison.Comparison`.

It may know how programs run again (:mod:`inplace_magic.rerun`), and the report of each run. It does not change the
user's variables, files or generators, and does not show its result: renderers do.
"""
