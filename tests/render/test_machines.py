"""The findings for programs: small, stable, and of a form that others read."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from builders import sigmoid_report, site
from programs import packed
from render.samples import HOSTILE, hostile_report
from stored import stored_in

from inplace_magic.cli.command_line import MACHINES
from inplace_magic.hazards import Hazard
from inplace_magic.hazards.finding import Badges
from inplace_magic.record.outcomes import Proof
from inplace_magic.render.machines import FORMATS
from inplace_magic.render.machines.findings import MOST_BYTES, SCHEMA, finding_of
from inplace_magic.render.machines.sarif import annotation_of
from inplace_magic.report import Report

KEYS = {
    *("code", "severity", "message", "fix", "raised", "count", "variable", "saved_by", "expected_version"),
    *("found_version", "mutation", "saved", "read", "origin", "freed", "diff", "proof", "shortened"),
}
"""Of schema 1. To take one away is a new schema."""


def in_a_file(path: str, line: int = 4) -> Hazard:
    place = replace(site(line), cell=None, file=path, column=4)
    return Hazard("alias-written", "silent", message="a, b: 100%\nlost", fix="Copy it.", mutation=place)


def report_of(*hazards: Hazard) -> Report:
    return replace(sigmoid_report(), findings=hazards)


def test_the_command_takes_the_formats_that_there_are() -> None:
    assert tuple(FORMATS) == MACHINES


def test_findings_json_has_code_places_and_versions_of_each_finding() -> None:
    report = sigmoid_report()
    found = json.loads(report.findings_json())
    assert (found["schema"], found["framework"], len(found["findings"])) == (SCHEMA, "torch", len(report.hazards))
    first, hazard = found["findings"][0], report.hazards[0]
    assert (first["code"], first["severity"], first["variable"]) == (hazard.code, hazard.severity, hazard.variable)
    assert first["mutation"]["line"] == hazard.mutation.line
    assert first["mutation"]["cell"] == 7
    assert (first["expected_version"], first["found_version"]) == (0, 1)


@pytest.mark.parametrize("text", ["x" * 5_000, "数" * 5_000, "\U0001f525" * 5_000, "\x01" * 5_000, HOSTILE * 300])
def test_a_finding_takes_2_kb_at_most_and_keeps_code_and_line(text: str) -> None:
    place = replace(site(4), cell=None, file=text, text=text, function=text, column=3, caller=site(2))
    proof = Proof("proven", text)
    places = dict.fromkeys(("mutation", "saved", "read", "origin", "freed"), place)
    names = dict.fromkeys(("message", "fix", "variable", "saved_by", "diff"), text)
    told = finding_of(Hazard(code="alias-written", severity="silent", proof=proof, **places, **names))
    assert len(json.dumps(told, ensure_ascii=False).encode("utf-8", errors="replace")) <= MOST_BYTES
    assert (told["code"], told["mutation"]["line"], told["proof"]["verdict"]) == ("alias-written", 4, "proven")
    assert told["shortened"] is True


def test_the_labelled_programs_findings_fit_with_their_diffs() -> None:
    told = [finding_of(hazard) for _name, report in stored_in(packed.FURTHER) for hazard in report.hazards]
    assert len(told) > 10
    assert {key for finding in told for key in finding} <= KEYS
    assert max(len(json.dumps(finding, ensure_ascii=False).encode()) for finding in told) <= MOST_BYTES
    assert sum("shortened" in finding for finding in told) < len(told) // 20


def test_an_annotation_is_one_line_that_a_message_cannot_break_out_of() -> None:
    line = annotation_of(in_a_file("a,b:c.py"))
    assert line.startswith("::error title=alias-written,file=a%2Cb%3Ac.py,line=4,col=5::a, b: 100%25")
    assert "\n" not in annotation_of(in_a_file("x.py"))
    assert line.endswith("%0ACopy it.")


def test_notes_are_no_annotations() -> None:
    note = replace(in_a_file("x.py"), severity="info")
    assert FORMATS["github"](report_of(note)) == ""


def test_sarif_has_a_rule_for_each_code_and_a_region_for_each_place_in_a_file() -> None:
    log = json.loads(FORMATS["sarif"](report_of(in_a_file("a dir/x.py"), in_a_file("a dir/x.py", 6))))
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "inplace_magic")
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "alias-written"
    assert len(rule["shortDescription"]["text"]) > 20
    for result, line in zip(run["results"], (4, 6), strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("alias-written", 0, "error")
        assert place["artifactLocation"]["uri"] == "a%20dir/x.py"
        assert (place["region"]["startLine"], place["region"]["startColumn"]) == (line, 5)


def test_a_place_beside_the_first_says_what_it_is() -> None:
    read, origin = (replace(in_a_file("x.py", line).mutation, column=None) for line in (6, 2))
    finding = replace(in_a_file("x.py"), read=read, origin=origin, badges=Badges(origin="kept here"))
    (result,) = json.loads(FORMATS["sarif"](report_of(finding)))["runs"][0]["results"]
    beside = {
        place["physicalLocation"]["region"]["startLine"]: place["message"]["text"]
        for place in result["relatedLocations"]
    }
    assert beside == {6: "read here", 2: "kept here"}


def test_a_cell_is_a_logical_place() -> None:
    log = json.loads(FORMATS["sarif"](sigmoid_report()))
    place = log["runs"][0]["results"][0]["locations"][0]
    assert place == {"logicalLocations": [{"fullyQualifiedName": "Cell In[7], line 6"}]}


@pytest.mark.parametrize("form", MACHINES)
def test_text_of_strangers_stays_text(form: str) -> None:
    written = FORMATS[form](hostile_report()).encode("utf-8").decode()
    assert not set(written) & {"\x00", "\x1b", "\r"}
    lines = written.split("\n")
    assert all(line.startswith("::") for line in lines) if form == "github" else len(lines) == 1


def test_every_field_that_is_a_place_is_told() -> None:
    places = [each.name for each in fields(Hazard) if each.type == "Callsite | None"]
    place = site(4)
    told = finding_of(Hazard("alias-written", "silent", message="", fix="", **dict.fromkeys(places, place)))
    assert set(places) <= set(told)
