"""A watch in the training loops of others: one file for each library that runs the loop itself.

It may know that library's callbacks and ``watch()``. It records and judges nothing, and no other room imports it.
"""
