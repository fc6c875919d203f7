"""The names of a tensor in the user's program: variables, second names, containers; since when, and in which function.

It may know the record's places and bindings, and the text of their lines. It invents no name and judges no rebinding: a
tensor without a name stays without one.
"""
