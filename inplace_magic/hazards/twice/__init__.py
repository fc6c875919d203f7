"""Rules on one memory that a call or statement meets twice as if it were two tensors: compared, joined, run again.

They may know the arguments of a call and their storages. They know the values of no tensor and no other folder of
rules.
"""
