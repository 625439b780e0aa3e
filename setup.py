"""The compiled part and the frontend's place; everything else is in pyproject.toml."""

from __future__ import annotations

import platform
import sys
from glob import glob

from setuptools import Extension, setup

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

setup(
    ext_modules=[native] if RECORDING_IS_AVAILABLE else [],
    package_dir={"tensorboard_plugin_darshan.static": "frontend"},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
