"""The elements that a write by index names, and the values that it drops.

It may know shapes, strides and indices as numbers. It knows no framework and reads no value of a tensor.
"""
