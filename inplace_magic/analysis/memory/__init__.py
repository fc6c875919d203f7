"""Bytes that were allocated and freed, by the line or call that did it.

It may know the records of storages, allocations and lifetimes. It does not say whether memory was wasted, and draws
nothing: ``render/timeline`` and ``render/tables`` show it.
"""
