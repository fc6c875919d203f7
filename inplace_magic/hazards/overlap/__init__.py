"""Rules on elements of one memory that are read and written in one call, one statement or the passes of one loop.

They may know regions, strides and the order of writes. They know the values of no element, and no other folder of
rules.
"""
