"""Who may import whom in the package; ARCHITECTURE.md says why."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tests.layering.imports import PACKAGE, Import, all_imports, imports_of, module_files

LANGUAGE: dict[str, set[str]] = {
    "counters": set(),
    "payload": set(),
    "metadata": set(),
    "modules": {"counters"},
    "window": {"payload"},
    "packing": set(),
    "segments": {"packing", "payload", "window"},
    "all_files": {"packing", "payload", "window"},
    "summary": {"all_files", "metadata", "payload", "segments", "window"},
}
"""Modules at the package's root that both halves speak → those of them that each may import."""

ABOVE = {
    *("cli", "demo", "demo_data"),
    *("staging_cli", "staging_files", "staging_plan", "staging_probe"),
}
"""Modules at the root that may import both halves."""

LANGUAGE_PACKAGES = ("numpy", "tensorboard.compat.proto")
HEAVY = ("darshan", "keras", "pandas", "plotly", "tensorflow", "torch")


def broken(rule: Callable[[Import], bool]) -> list[str]:
    return [str(found) for found in all_imports() if rule(found)]


def half_of(importer: str) -> str:
    """`recording`, `dashboard`, or empty at the root."""
    return importer.partition(".")[0] if "." in importer else ""


def is_standard(found: Import) -> bool:
    return found.imported.partition(".")[0] in sys.stdlib_module_names


def test_root_holds_only_the_language_and_what_is_above() -> None:
    at_root = {name for name in module_files() if not half_of(name)}
    assert at_root - ABOVE == {*LANGUAGE, "__init__"}, "state in ABOVE or LANGUAGE what it is"
    assert {half_of(name) for name in module_files()} == {"", "recording", "dashboard"}


def test_language_imports_only_itself_numpy_and_messages() -> None:
    def rule(found: Import) -> bool:
        if found.importer not in LANGUAGE or is_standard(found):
            return False
        allowed = [f".{name}" for name in LANGUAGE[found.importer]]
        return not found.is_of(*LANGUAGE_PACKAGES, *allowed)

    assert broken(rule) == []


def test_package_itself_imports_nothing_beyond_the_standard_library() -> None:
    assert (
        broken(
            lambda found: (
                found.importer == "__init__"
                and found.when != "for types"
                and not is_standard(found)
            )
        )
        == []
    )


def test_recording_never_imports_what_shows() -> None:
    assert (
        broken(
            lambda found: (
                half_of(found.importer) == "recording"
                and found.is_of(".dashboard", ".cli", "plotly", "pandas", "werkzeug", "darshan")
            )
        )
        == []
    )


def test_dashboard_never_imports_what_records() -> None:
    assert (
        broken(
            lambda found: (
                half_of(found.importer) == "dashboard"
                and found.is_of(".recording", "._native", ".cli", "keras", "tensorflow")
            )
        )
        == []
    )


def test_one_module_imports_the_compiled_part() -> None:
    importers = {found.importer for found in all_imports() if found.is_of("._native")}
    assert importers == {"recording.native"}


def test_only_the_callback_imports_keras() -> None:
    importers = {
        found.importer
        for found in all_imports()
        if found.is_of("keras") and found.when == "at import"
    }
    assert importers == {"recording.keras_callback"}


def test_nobody_imports_a_heavy_package_at_import() -> None:
    assert (
        broken(
            lambda found: (
                found.is_of(*HEAVY)
                and found.when == "at import"
                and not (found.importer == "recording.keras_callback" and found.is_of("keras"))
            )
        )
        == []
    )


def test_imports_in_functions_are_of_heavy_things_only() -> None:
    def rule(found: Import) -> bool:
        if found.when != "in a function" or found.importer in ABOVE:
            return False
        is_entry_point = found.importer == "dashboard.plugin" and found.is_of(".dashboard.routes")
        return not found.is_of(*HEAVY) and not is_entry_point

    assert broken(rule) == []


def test_modules_import_each_other_in_one_direction() -> None:
    files = module_files()
    uses: dict[str, set[str]] = {name: set() for name in files}
    for found in all_imports():
        if found.when != "at import":
            continue
        parts = found.imported.removeprefix(f"{PACKAGE}.").split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            if name in files and found.imported.startswith(PACKAGE):
                uses[found.importer].add(name)
    while uses:
        free = {name for name, used in uses.items() if not used & uses.keys()}
        assert free, f"these import each other in a circle: {sorted(uses)}"
        uses = {name: used for name, used in uses.items() if name not in free}


def test_imports_are_found_wherever_they_stand() -> None:
    source = """
import a.b
from c import d
if TYPE_CHECKING:
    from tensorboard_plugin_darshan.recording import recorder
else:
    import g
try:
    import e
except ImportError:
    pass
class C:
    def f(self):
        with x:
            import f.g
"""
    found = [(one.imported, one.when) for one in imports_of("x", source)]
    assert found == [
        ("a.b", "at import"),
        ("c.d", "at import"),
        (f"{PACKAGE}.recording.recorder", "for types"),
        ("g", "at import"),
        ("e", "at import"),
        ("f.g", "in a function"),
    ]
    assert Import("x", "keras.callbacks", "at import", 1).is_of("keras")
    assert not Import("x", "keras_hub", "at import", 1).is_of("keras")
    assert Import("x", f"{PACKAGE}._native", "at import", 1).is_of("._native")
