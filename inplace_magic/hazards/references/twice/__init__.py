"""One memory that a function returned as two results.

It may know calls, their results and their readers. It knows no rule and no name of a function.
"""
