"""The numbers that a watch kept, turned into the records of a ``Trace`` when it ends.

It may know the session's tables and ``record/``. It adds no fact of its own and judges none.
"""
