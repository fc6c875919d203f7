"""Rules on tensors that a function was given and wrote.

They may know calls, their arguments and the names of caller and callee. They know no function of the user's by its
name, and no other folder of rules.
"""
