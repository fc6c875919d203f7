"""The pytest plugin: ``pytest --inplace-watch`` runs the body of each test inside a watch.

It may know pytest and ``watch()``. It loads only its options until one is used, and changes no test's outcome without
``--inplace-fail-on``.
"""
