"""The lists of programs, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from no_harm.differential import Program
from no_harm.operators import (
    error_programs,
    foreach_programs,
    inplace_programs,
    operator_programs,
    reference_programs,
)
from no_harm.training import module_programs, optimizer_programs

Groups = Iterator[tuple[str, Iterator[Program]]]

LISTS: dict[str, Callable[[int], Groups]] = {
    "op_db": operator_programs,
    "op_db in place": inplace_programs,
    "op_db errors": error_programs,
    "binary_ufuncs": reference_programs,
    "foreach": foreach_programs,
    "modules": module_programs,
    "optimizers": optimizer_programs,
}
"""Each takes how many programs to make per operator, and gives (operator, its programs)."""
