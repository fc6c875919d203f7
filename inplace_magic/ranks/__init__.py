"""One report of several processes: each rank watches itself, and their findings are printed once.

``torchrun -m inplace_magic train.py`` and ``notebook_launcher(inplace_magic.watched(train))`` both end here. A finished
rank posts its text; the last rank prints all texts, equal ones once. No rank waits long: a failed rank holds its
connections while it waits, and the others may be waiting for them. It may know the texts of reports, and nothing of
tensors or rules.
"""
