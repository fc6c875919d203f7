"""Rules on memory that tensors share with arrays of NumPy and other libraries.

They may know who shares which memory, and writes that no call shows. They do not know the other folders of rules, nor
how a variable is called.
"""
