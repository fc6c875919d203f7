"""The exercises of the teaching notebooks: ``check("1.1", answer)``, ``hint("1.1")``, ``solution("1.1")``.

An answer that is code runs under a watch, and what is said about it is read off the report. The texts are in
``exercises.md``, the judges in a file for each subject; the lessons themselves are in ``notebooks/``. It may know the
public names, torch and the notebook, and nothing of how a watch works inside; no other room imports it.
"""

from __future__ import annotations

from inplace_magic.lessons.asking import check, hint, solution

__all__ = ["check", "hint", "solution"]
