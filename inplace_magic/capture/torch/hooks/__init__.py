"""Facts that only hooks tell: activations kept by forward hooks, parameters given to modules, steps of optimizers.

It may know the user's hooks and modules, and hangs one hook of its own on optimizers. It calls no hook of the user's
and leaves the order of hooks as it is.
"""
