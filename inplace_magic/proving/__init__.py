"""A fix tried before it is claimed: the patched program, run on copies, against what its own forward means.

It may know findings, their cures, and how programs are run again. It leaves no trace in the user's variables, and says
"not tried" where a run would write files, start commands or use the network.
"""
