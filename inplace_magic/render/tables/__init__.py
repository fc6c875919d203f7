"""Tables: pandas frames, and the rows of the memory table in words.

It may know the record, ``analysis/memory`` and pandas, which is imported here alone. Columns are stable and English;
they do not know the page.
"""
