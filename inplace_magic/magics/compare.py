"""``%%inplace_compare``: one cell with every ``inplace`` flag off and on, or two callables or cells by name."""

from __future__ import annotations

import ast
import difflib
import re
from argparse import Namespace
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.utils.capture import capture_output

from inplace_magic.errors import CompareError
from inplace_magic.flags import Options
from inplace_magic.language import N_, _, use_language
from inplace_magic.magics.cells import run_text, running_cell
from inplace_magic.magics.options import Parser, magic_of, numbered
from inplace_magic.magics.output import steps
from inplace_magic.magics.session import Session
from inplace_magic.rerun.program import CallProgram, CellProgram, Program, program_of

MAGIC = "%%inplace_compare"
OF_ANOTHER_KIND = N_("`{magic}` makes a cell of another kind, which cannot be run again on copies.")
NO_CELL = N_("there is no cell In[{number}] in this session.")
DESCRIPTION = N_("""\
Compare two variants of one program: outputs and gradients, operations, allocations and time.

With --flip the cell below runs once with every module's `inplace` flag False and once with every flag True. With two
names the cell runs as usual, and the functions or modules of these names are compared; the names can also be the
numbers of two cells of this session. Each variant runs several times, on copies of everything that it reads and from
the same random state. Your own variables, gradients, flags and generators are the same afterwards, so a --flip cell
binds no names.
""")
EXAMPLE = N_("""\
examples:
  %%inplace_compare --flip
  loss = model(images).sum()
  loss.backward()

  %inplace_compare plain in_place --inputs image
  %inplace_compare 3 4
""")


def compare_parser() -> Parser:
    """Return the options of the magic."""
    parser = Parser(MAGIC, description=_(DESCRIPTION), epilog=_(EXAMPLE), given=None)
    add = parser.names.add_argument
    add("variants", nargs="*", metavar="NAME", help=_("two callables, or the numbers of two cells"))
    add = parser.options.add_argument
    add("--flip", action="store_true", help=_("set every `inplace` flag to False, and to True"))
    add("-o", "--out", metavar="NAME", help=_("bind the comparison to this variable"))
    add("--inputs", metavar="X,Y", default="", help=_("variables that the callables are called with"))
    add("--repeats", metavar="N", type=int, help=_("timed runs of each; 0 for none (default: about 2 s)"))
    add("--seed", metavar="N", type=int, help=_("seed all generators before each run"))
    return parser.with_flags("lang")


def _asked(session: Session, given: dict[str, Any], cell: str | None = None) -> None:
    """What the cell magic does, and with no cell the line magic of the same name."""
    asked = Namespace(**given)
    _check(asked)
    session.must_be_idle(MAGIC)
    try:
        with use_language(asked.lang):
            _compare(session, asked, cell)
    except CompareError as error:
        raise UsageError(f"{MAGIC if cell is not None else MAGIC[1:]}: {error}") from None


compare_magic = magic_of(compare_parser, _asked)


def _check(given: Namespace) -> None:
    Options.of({"out": given.out, "lang": given.lang})
    if given.repeats is not None and given.repeats < 0:
        sentence = _("{magic}: --repeats is {count}; it cannot be negative.")
        raise UsageError(sentence.format(magic=MAGIC, count=given.repeats))
    if given.flip == bool(given.variants) or (given.variants and len(given.variants) != 2):
        found = " ".join([*(["--flip"] if given.flip else []), *given.variants])
        text = (
            _(
                "{magic} compares either a cell with itself, by --flip, or two variants by name, such as "
                "`%inplace_compare plain in_place`; it got {found!r}."
            )
            if found
            else _(
                "{magic} compares either a cell with itself, by --flip, or two variants by name, such as "
                "`%inplace_compare plain in_place`; it got neither."
            )
        )
        raise UsageError(text.format(magic=MAGIC, found=found))


def _compare(session: Session, given: Namespace, cell: str | None) -> None:
    from inplace_magic.comparing.compare import run_comparison
    from inplace_magic.render.comparison.views import to_mimebundle

    if given.flip:
        if cell is None:
            raise UsageError(_("--flip compares a cell: write `%%inplace_compare --flip`, with two percent signs."))
        if not cell.strip():
            sentence = _("There is no code below `{magic}`. Put the code to compare into the same cell.")
            raise UsageError(sentence.format(magic=MAGIC))
        number = running_cell(session.shell, session.running[-1] if session.running else None)
        text = f"{MAGIC} --flip\n"
        pair: list[Program] = [
            program_of_cell(session.shell, f"inplace={flag}", cell, number, above=text) for flag in (False, True)
        ]
    else:
        if cell is not None and cell.strip():
            run_text(session.shell, "\n" + cell)
        for name in given.variants:
            if numbered(name) is None:
                _look_up(session.shell, name)
        pair = [_variant(session.shell, name, given.inputs) for name in given.variants]
    result, failures = run_comparison(
        pair[0],
        pair[1],
        flip=given.flip,
        repeats=given.repeats,
        seed=given.seed,
        quiet=capture_output,
        steps=partial(steps, shell=session.shell),
    )
    if given.out is not None:
        session.shell.user_ns[given.out] = result
    session.shell.display_pub.publish(data=to_mimebundle(result))
    if len(failures) == 2:
        raise failures[0].error


def _variant(shell: Any, name: str, inputs: str) -> Program:
    from inplace_magic.comparing.compare import check_callable

    number = numbered(name)
    if number is not None:
        texts = shell.history_manager.input_hist_raw
        if not 0 < number < len(texts) or not texts[number].strip():
            raise CompareError(_(NO_CELL).format(number=number))
        return replace(program_of_cell(shell, f"In[{number}]", texts[number], number), compares_result=True)
    names = tuple(word.strip() for word in inputs.split(",") if word.strip())
    function, *values = (_look_up(shell, each) for each in (name, *names))
    check_callable(function, name, tuple(values), {}, _("Give its arguments as `--inputs x,y`."))
    return CallProgram(name, function, tuple(values), names=names)


def _look_up(shell: Any, name: str) -> Any:
    names = shell.user_ns
    root, *attributes = name.split(".")
    if root not in names:
        near = difflib.get_close_matches(root, [each for each in names if not each.startswith("_")], n=1)
        text = (
            _("the name `{name}` is not defined; did you mean `{near}`?")
            if near
            else _("the name `{name}` is not defined; run the cell that defines it first.")
        )
        raise CompareError(text.format(name=root, near=near[0] if near else ""))
    value = names[root]
    for attribute in attributes:
        if not hasattr(value, attribute):
            sentence = _("`{name}` does not exist: there is no `{attribute}` in it.")
            raise CompareError(sentence.format(name=name, attribute=attribute))
        value = getattr(value, attribute)
    return value


def program_of_cell(
    shell: Any, name: str, text: str, number: int, above: str = "", *, filename: str | None = None
) -> CellProgram:
    """Return the code of a cell, compiled under the name that the shell gives it, with the gutter's line numbers.

    Args:
        above: the magic's line, where there is one.
        filename: to compile it under; None: the shell's name for that cell, under which it then knows the text.

    Raises:
        CompareError: the text is not Python that can run here.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    if first.startswith("%%"):
        raise CompareError(_(OF_ANOTHER_KIND).format(magic=first.split()[0]))
    lead = "\n" * above.count("\n") + text[: len(text) - len(text.lstrip("\n"))]
    try:
        # Tried first: ipython drops leading blank lines, and lines have to keep their numbers.
        code = lead + shell.transform_cell(text)
        filename = filename or shell.compile.cache(code, number, raw_code=above + text)
        statements = shell.transform_ast(shell.compile.ast_parse(code, filename=filename)).body
        program = program_of(
            statements, name=name, namespace=shell.user_ns, filename=filename, source=above + text, cell=number
        )
        return replace(program, quoted=_quoted(statements))
    except SyntaxError as error:
        sentence = _("line {line} is not Python that can run here: {error}. Nothing was run.")
        raise CompareError(sentence.format(line=error.lineno, error=error.msg)) from None


_FLAGS = re.compile(r"(-\w+\s*\d*\s+)*")


def _quoted(statements: list[ast.stmt]) -> tuple[CodeType, ...]:
    """Return the code in a cell's magics, such as ``%time loss = step()``: what it reads is read by the cell."""
    found = []
    for node in (each for statement in statements for each in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run_line_magic":
            texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            with suppress(SyntaxError, ValueError):  # most magics take something else
                found.append(compile(_FLAGS.sub("", texts[-1], count=1), "<magic>", "exec", dont_inherit=True))
    return tuple(found)
