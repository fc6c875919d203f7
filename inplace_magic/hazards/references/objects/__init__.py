"""The objects, classes, dicts and lists that hold a tensor, and by which of them a line comes to it.

It may know holders and statements, and follows both. It knows no rule, and takes two equal names for one object only
where the record says so.
"""
