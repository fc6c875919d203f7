"""Try a fix before claiming it: run the patched program on copies and compare it with what its forward pass means.

It may know findings, their cures, and how programs run again. It leaves no trace in the user's variables, and the
verdict is "not tried" if a run would write files, start commands or use the network.
"""
