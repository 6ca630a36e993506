"""Imports become paths of the repository, or nobody's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.tools.project.sources import language_of
from mcl.plugins.review.maps.survey import Importing, importers

# The files, who imports (and what), and the files that it imports.
CASES = [
    ("a/__init__.py a/b.py a/c.py", "a/c.py", ["a.b|thing"], ["a/b.py"]),
    ("a/__init__.py a/b.py a/c.py", "a/c.py", ["a|b"], ["a/b.py"]),
    ("a/__init__.py a/b.py a/c.py", "a/c.py", ["a|Thing"], ["a/__init__.py"]),
    ("a/__init__.py a/b.py a/c.py", "a/c.py", [".|b", ".b|x"], ["a/b.py"]),
    ("a/__init__.py a/b.py a/d/__init__.py a/d/c.py", "a/d/c.py", ["..b|x"], ["a/b.py"]),
    ("a/__init__.py a/c.py", "a/c.py", ["...b|x"], []),
    ("src/a/__init__.py src/a/b.py src/a/c.py", "src/a/c.py", ["a.b|"], ["src/a/b.py"]),
    ("src/a/__init__.py src/a/b.py t.py", "t.py", ["src.a.b|"], ["src/a/b.py"]),
    ("bin/run.py bin/near.py far/near.py", "bin/run.py", ["near|"], ["bin/near.py"]),
    ("one/near.py two/near.py run.py", "run.py", ["near|"], []),
    ("tools/json.py run.py", "run.py", ["json|"], []),
    ("json.py run.py", "run.py", ["json|"], ["json.py"]),
    ("a.py b.py", "b.py", ["os|path", "b|"], []),
    ("src/a.ts src/b.ts", "src/b.ts", ["./a"], ["src/a.ts"]),
    ("src/a.ts src/b.ts", "src/b.ts", ["./a.js"], ["src/a.ts"]),
    ("src/lib/index.js src/b.js", "src/b.js", ["./lib"], ["src/lib/index.js"]),
    ("src/a.js src/sub/b.js", "src/sub/b.js", ["../a.js?raw", "react", "../../../a.js"], ["src/a.js"]),
    ("inc/shop/store.h src/store.c", "src/store.c", ["shop/store.h", "stdio.h"], ["inc/shop/store.h"]),
    ("one/x.h two/x.h src/x.c", "src/x.c", ["x.h"], []),
    ("src/x.h two/x.h src/x.c", "src/x.c", ["x.h"], ["src/x.h"]),
    ("java/org/shop/Store.java A.java", "A.java", ["org.shop.Store"], ["java/org/shop/Store.java"]),
    ("src/lib.rs src/a/mod.rs", "src/lib.rs", ["mod a"], ["src/a/mod.rs"]),
    ("src/lib.rs src/a/mod.rs src/a/b.rs", "src/lib.rs", ["crate::a::b::X"], ["src/a/b.rs"]),
    ("src/lib.rs src/a.rs src/a/b.rs", "src/a/b.rs", ["super::super::x", "std::fs"], []),
    ("src/lib.rs src/a.rs src/b.rs", "src/a.rs", ["super::b::X"], ["src/b.rs"]),
    ("lib/shop/store.rb bin/x.rb", "bin/x.rb", ["shop/store", "json"], ["lib/shop/store.rb"]),
    ("lib/a.rb lib/b.rb", "lib/b.rb", ["a"], ["lib/a.rb"]),
    ("src/Shop/Store.php a.php", "a.php", ["Shop\\Store"], ["src/Shop/Store.php"]),
    ("lib/say.sh run.sh", "run.sh", ["./lib/say.sh"], ["lib/say.sh"]),
    ("shop/store.lua main.lua", "main.lua", ["shop.store"], ["shop/store.lua"]),
    ("lib/Shop/Store.pm a.pl", "a.pl", ["Shop::Store"], ["lib/Shop/Store.pm"]),
    ("api/item.proto api/till.proto", "api/till.proto", ["item.proto"], ["api/item.proto"]),
    ("lib/store.dart lib/main.dart", "lib/main.dart", ["store.dart", "dart:io"], ["lib/store.dart"]),
    ("app.swift b.swift", "b.swift", ["app"], []),
]  # fmt: skip


@pytest.mark.parametrize(("paths", "who", "said", "expected"), CASES)
def test_imports_are_resolved(paths: str, who: str, said: list[str], expected: list[str]) -> None:
    files = {path: Importing(language_of(path), said if path == who else ()) for path in paths.split()}

    found = importers(files, lambda path: True)

    assert sorted(path for path, count in found.items() if count) == sorted(expected)


def test_a_package_of_go_is_a_folder_below_its_module() -> None:
    files = {
        "go.mod": Importing("go", (), provides="example.org/shop"),
        "store/a.go": Importing("go", ()),
        "store/b.go": Importing("go", ()),
        "store/a_test.go": Importing("go", ()),
        "main.go": Importing("go", ["example.org/shop/store", "fmt", "example.org/shopping/store"]),
    }

    assert importers(files, lambda path: True) == {
        "go.mod": 0, "store/a.go": 1, "store/b.go": 1, "store/a_test.go": 0, "main.go": 0
    }  # fmt: skip


def test_a_file_counts_once_and_never_itself_and_tests_do_not_count() -> None:
    files = {
        "a.py": Importing("python", ["a|", "b|x", "b|y"]),
        "b.py": Importing("python", ()),
        "tests/test_b.py": Importing("python", ["b|"]),
    }

    assert importers(files, lambda path: not path.startswith("tests/")) == {
        "a.py": 0, "b.py": 1, "tests/test_b.py": 0
    }  # fmt: skip


@given(
    st.text(max_size=40),
    st.sampled_from(["a.py", "a/b.ts", "a.c", "x/A.java", "a.rs", "a.rb", "a.go", "a.sh"]),
)
def test_no_import_makes_it_fail_or_leads_out(said: str, path: str) -> None:
    files = {path: Importing(language_of(path), [said, f"{said}|{said}", f"mod {said}", f"../{said}"])}
    files |= {"b.py": Importing("python", ()), "go.mod": Importing("go", (), provides="m")}

    assert importers(files, lambda one: True).keys() == files.keys()
