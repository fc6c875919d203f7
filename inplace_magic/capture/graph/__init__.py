"""The autograd graph: what is kept of its nodes, how many may be looked at, what a backward was asked for and gave."""
