"""The compiled part and the frontend's place; everything else is in pyproject.toml."""

from __future__ import annotations

import platform
import sys
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from wheel.wheelfile import WheelFile

RECORDING_IS_AVAILABLE = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")

native = Extension(
    "tensorboard_plugin_darshan._native",
    sources=sorted(glob("native/*.c")),
    depends=sorted(glob("native/*.h")),
    define_macros=[("Py_LIMITED_API", "0x030A0000"), ("_GNU_SOURCE", None)],
    extra_compile_args=[
        *("-std=c11", "-O2", "-fvisibility=hidden", "-ftls-model=initial-exec", "-pthread"),
        *("-Wall", "-Wextra", "-Wshadow", "-Wconversion"),
    ],
    extra_link_args=["-pthread", "-Wl,-z,nodelete"],
    libraries=["dl"],
    py_limited_api=True,
)

JOIN_FILE = "tensorboard_plugin_darshan_join.pth"
"""Makes every Python that a recorded training starts join the recording; does nothing else."""
JOIN_SOURCE = Path("tensorboard_plugin_darshan", JOIN_FILE)


class BuildWithJoinFile(build_py):
    """Puts the join file beside the package, where Python looks for such files."""

    def run(self) -> None:
        """Builds the package and copies the join file."""
        super().run()
        if not self.editable_mode:
            self.copy_file(str(JOIN_SOURCE), str(Path(self.build_lib, JOIN_FILE)))

    def get_source_files(self) -> list[str]:
        """What a source archive must hold for `run`."""
        return [*super().get_source_files(), str(JOIN_SOURCE)]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """What `run` makes."""
        return [*super().get_outputs(include_bytecode), str(Path(self.build_lib, JOIN_FILE))]


class EditableWithJoinFile(editable_wheel):
    """The same for an editable installation."""

    def run(self) -> None:
        """Builds the wheel and adds the join file."""
        super().run()
        wheel = max(Path(self.dist_dir).glob("*.whl"), key=lambda path: path.stat().st_mtime)
        with WheelFile(wheel, "a") as archive:
            archive.write(JOIN_SOURCE, JOIN_FILE)


setup(
    cmdclass={"build_py": BuildWithJoinFile, "editable_wheel": EditableWithJoinFile},
    ext_modules=[native] if RECORDING_IS_AVAILABLE else [],
    package_dir={"tensorboard_plugin_darshan.static": "frontend"},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
