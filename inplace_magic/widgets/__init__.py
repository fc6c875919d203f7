"""The live view of a report: its state as plain data, and the widget that a running kernel shows.

It may know the report, the renderers and, by weak references, tensors that are still alive. It knows no rule, and is
never the only way to see something: a saved notebook has the report without it.
"""
