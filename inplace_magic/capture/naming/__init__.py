"""The user's names for tensors while the program runs: which are in sight, and what they lead to.

It may know frames, modules, containers and objects of the user's, read without running their code. It knows no
framework by name, and what a name means for a finding is ``analysis/naming``'s.
"""
