"""Level ``writes``: what a run of hours can pay for."""
