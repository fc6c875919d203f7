"""One report of several processes: each rank watches itself, and what they have to say comes out once.

``torchrun -m inplace_magic train.py`` and ``notebook_launcher(inplace_magic.watched(train))`` both end here. A rank
that is done posts what it would say; whoever is last says it for all, those that say the same in one. Nobody waits
long: a rank that failed holds its connections while it waits, and the others may be waiting for them. It knows reports
as they are told, and nothing of tensors or rules.
"""
