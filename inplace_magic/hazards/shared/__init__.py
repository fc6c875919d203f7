"""Rules on one tensor that stands for two: in objects, slots or parameters, each written as if it had its own.

They may know holders from ``references/``. They know no other folder of rules, and report no sharing that nobody wrote
through.
"""
