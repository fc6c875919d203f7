"""Rules on what autograd saved or refused, one file each: ``check(story)`` and its words.

They may know saved tensors, versions, nodes and PyTorch's errors as records. They know no other folder of rules, and no
cure: ``hazards/rule.py`` applies it.
"""
