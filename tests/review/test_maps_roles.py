"""What a file is: rules that are data, tried in their order."""

from __future__ import annotations

import pytest

from mcl.plugins.review.maps.maps import rules

# Path, language, marks, importers; the role, and the rule that gives it.
CASES = [
    ("package-lock.json", "json", (), 0, "lock file", "lock-file"),
    ("a/schema.py", "python", ("generated",), 30, "generated", "generated"),
    ("api/item_pb2.py", "python", (), 0, "generated", "generated-name"),
    ("static/637.38228f87ab2ad86d.js", "javascript", (), 0, "generated", "generated-name"),
    ("static/app.js", "javascript", ("long lines",), 0, "generated", "generated-lines"),
    ("notes.txt", "text", ("long lines",), 0, "documentation", "text"),
    ("src/test_app.py", "python", (), 0, "test", "test-name"),
    ("src/app.spec.ts", "typescript", (), 0, "test", "test-name"),
    ("tests/helping.py", "python", (), 40, "test", "test-folder"),
    ("tests/data/one.json", "json", (), 0, "test data", "test-data"),
    ("shop/migrations/0001_items.py", "python", (), 0, "migration", "migration"),
    ("shop/migrations/alembic/3fa9c2d41b0e_items.py", "python", (), 0, "migration", "migration"),
    ("shop/migrations/base.py", "python", (), 0, "library module", "library-module"),
    ("README.rst", "rst", (), 0, "documentation", "documentation-name"),
    ("LICENSE", "", (), 0, "documentation", "documentation-name"),
    ("guide/start.md", "markdown", (), 0, "documentation", "documentation-language"),
    ("docs/start.txt", "text", (), 0, "documentation", "documentation-folder"),
    ("Makefile", "make", (), 0, "build", "build-name"),
    (".github/workflows/ci.yml", "yaml", (), 0, "build", "build-workflow"),
    ("pyproject.toml", "toml", (), 0, "configuration", "configuration-name"),
    ("requirements-dev.txt", "text", (), 0, "configuration", "configuration-name"),
    ("app/rules.toml", "toml", (), 0, "configuration", "configuration-language"),
    ("config/shop.yaml", "yaml", (), 0, "configuration", "configuration-folder"),
    ("docs/conf.py", "python", (), 0, "configuration", "configuration-documents"),
    ("urls/conf.py", "python", (), 0, "library module", "library-module"),
    ("shop/settings.py", "python", (), 0, "configuration", "configuration-unused"),
    ("shop/settings.py", "python", (), 1, "library module", "library-module"),
    ("locale/sv.po", "", (), 0, "translation", "translation"),
    ("mail/hello.j2", "", (), 0, "template", "template"),
    ("templates/index.html", "html", (), 0, "template", "template-folder"),
    ("site/main.css", "css", (), 0, "style", "style"),
    ("logo.png", "", (), 0, "asset", "asset"),
    ("html/_static/search.js", "javascript", (), 0, "asset", "asset-static"),
    ("api/item.proto", "protobuf", (), 0, "schema", "schema"),
    ("api/item.schema.json", "json", (), 0, "schema", "schema-name"),
    ("shop/till.pyi", "python", (), 0, "type stub", "type-stub"),
    ("shop/till.d.ts", "typescript", (), 0, "type stub", "type-declaration"),
    ("countries.json", "json", (), 0, "data", "data"),
    ("examples/shop.py", "python", (), 0, "example", "example"),
    ("docs/listings/shop.py", "python", (), 0, "example", "example-documents"),
    ("benchmarks/till.py", "python", (), 0, "benchmark", "benchmark"),
    ("shop/__main__.py", "python", (), 0, "entry point", "entry-point-name"),
    ("cmd/shop/serve.go", "go", ("main function",), 0, "entry point", "entry-point-main"),
    ("src/index.ts", "typescript", (), 0, "entry point", "entry-point-top"),
    ("shop/errors.py", "python", (), 20, "hub", "hub"),
    ("shop/cli/list.py", "python", (), 12, "command line", "command-line-folder"),
    ("shop/cli.py", "python", (), 1, "command line", "command-line-name"),
    ("shop/asking.py", "python", ("asks arguments",), 1, "command line", "command-line"),
    ("shop/store.py", "python", (), 10, "hub", "hub-some"),
    ("tool", "python", ("shebang",), 0, "script", "script-shebang"),
    ("scripts/count.py", "python", (), 0, "script", "script-folder"),
    ("setup.sh", "bash", (), 1, "script", "script-language"),
    ("count.py", "python", ("main guard",), 0, "script", "script-main-guard"),
    ("shop/__init__.py", "python", (), 3, "package", "package"),
    ("site/index.html", "html", (), 0, "template", "page"),
    ("shop/store.py", "python", (), 9, "library module", "library-module"),
    ("scripts/shared.py", "python", (), 1, "library module", "library-module"),
    ("count.py", "python", ("main guard",), 1, "library module", "library-module"),
    ("deep/app.py", "python", (), 0, "library module", "library-module"),
    ("shop/tree.pxi", "", (), 0, "library module", "library-module-cython"),
    ("words.txt", "text", (), 0, "documentation", "text"),
    ("what", "", (), 0, "other", "other"),
]


@pytest.mark.parametrize(("path", "language", "marks", "importers", "role", "rule"), CASES)
def test_the_first_rule_that_fits_gives_the_role(
    path: str, language: str, marks: tuple[str, ...], importers: int, role: str, rule: str
) -> None:
    found = rules().of(path, language, marks, importers)

    assert (found.role, found.id) == (role, rule)


def test_every_rule_has_a_case_and_a_reason_and_an_id_of_its_own() -> None:
    ids = [rule.id for rule in rules().all]

    assert len(set(ids)) == len(ids)
    assert {case[5] for case in CASES} == set(ids)
    assert all(rule.why for rule in rules().all)


def test_the_reason_of_a_hub_tells_how_many_import_it() -> None:
    assert rules().why("hub", 34) == "very many other files import it (34)"
    assert rules().why("test-name", 34) == "named as tests are"
    assert rules().why("no such rule", 0) == ""


def test_roles_whose_files_are_code_are_roles() -> None:
    assert rules().code <= {rule.role for rule in rules().all}
    assert not rules().code & {"documentation", "data", "asset", "configuration", "generated", "lock file"}
