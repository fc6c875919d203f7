"""The flags of the magic and the fields of the record behind them."""

from __future__ import annotations

from dataclasses import fields

import pytest
from IPython.core.error import UsageError

from inplace_magic.flags import OPTION_RECORDS, Options
from inplace_magic.magics.options import parse_options, watch_parser
from inplace_magic.record.options import DeliverOptions, ShowOptions, WatchOptions

WITHOUT_A_FLAG = {"max_values"}  # no reader of a cell has asked for it; `watch(max_values=...)` sets it


def test_every_option_has_a_flag_and_every_flag_an_option() -> None:
    flags = {action.dest for action in watch_parser()._actions} - {"help"}
    named = [field.name for record in OPTION_RECORDS.values() for field in fields(record)]
    assert len(named) == len(set(named)), "a flag sets one field of one record"
    assert flags == set(named) - WITHOUT_A_FLAG


def test_no_flag_means_the_defaults_of_the_record() -> None:
    assert parse_options("") == Options(watch=WatchOptions(), show=ShowOptions(), deliver=DeliverOptions())


def test_each_flag_sets_its_field() -> None:
    assert parse_options(
        "-o r --level ops --raw --no-graph --widget view --save 'm r.html' --check-values --full "
        "--max-events 5 --lang zh"
    ) == Options(
        watch=WatchOptions(level="ops", check_values=True, full=True, max_events=5, lang="zh"),
        show=ShowOptions(raw=True, graph=False),
        deliver=DeliverOptions(out="r", widget="view", save="m r.html"),
    )
    assert parse_options("--widget --raw") == Options.of({"widget": "", "raw": True})
    assert parse_options("--out=r") == Options.of({"out": "r"})
    assert parse_options(r'--save="C:\My reports\r.html"').deliver.save == r"C:\My reports\r.html"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--levle ops", "%%inplace_watch has no option --levle; did you mean --level?"),
        ("--graph", "%%inplace_watch has no option --graph; did you mean --no-graph?"),
        ("--zzz", "%%inplace_watch has no option --zzz; there are -o, --out, --level, --raw,"),
        ("--level op", "%%inplace_watch: level 'op' does not exist; choose one of calls, ops, writes."),
        ("--level", "%%inplace_watch: argument --level: expected one argument."),
        ("-o 3x", "%%inplace_watch: --out '3x' is not a variable name"),
        ("-o class", "%%inplace_watch: --out 'class' is not a variable name"),
        ("--widget 3x", "%%inplace_watch: --widget '3x' is not a variable name"),
        (
            "--save report.pdf",
            "%%inplace_watch: 'report.pdf' is no file to save a report to: its name must end in .html,",
        ),
        ("--max-events few", "%%inplace_watch: argument --max-events: invalid int value: 'few'."),
        ("--max-events -1", "%%inplace_watch: max_events is -1; it must be at least 2."),
        ("y = x + 1", "%%inplace_watch takes options only, not 'y'; put the code to watch on the lines below it."),
        ("--lang fr", "%%inplace_watch: language 'fr' does not exist; choose one of en, zh, auto."),
        ("-o 'r", "cannot be split into words: No closing quotation."),
    ],
)
def test_a_wrong_line_gives_one_sentence_that_says_what_to_write(line: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(line)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_help_names_every_flag_and_shows_an_example() -> None:
    text = watch_parser().format_help()
    for action in watch_parser()._actions:
        assert all(flag in text for flag in action.option_strings)
    assert "%%inplace_watch -o report" in text
    assert "\x1b" not in text
