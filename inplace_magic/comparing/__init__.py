"""Two variants of a program side by side: :mod:`.compare` makes a :class:`.comparison.Comparison`.

It may know how programs are run again (:mod:`inplace_magic.rerun`), and what a report says of each run. It does not
change the user's variables, files or generators, and does not show its result: renderers do.
"""
