"""The pytest plugin: ``pytest --inplace-watch`` runs the body of each test inside a watch.

It may know pytest and ``watch()``. Nothing but its options is loaded until one of them is used, and no outcome of a
test changes unless ``--inplace-fail-on`` asks for that.
"""
