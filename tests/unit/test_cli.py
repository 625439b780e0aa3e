from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import __version__, cli, demo, demo_data


def test_doctor_says_what_was_found(capsys):
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"tensorboard-plugin-darshan {__version__}" in out
    assert "Recording works, with the builtin source." in out
    assert "and those that it misses" in out
    (redirected,) = [line for line in out.splitlines() if "calls redirected" in line]
    assert int(redirected.split(":")[1].split(",")[0]) > 10
    assert "/proc" in out


def test_doctor_looks_at_darshan_s_own_list(capsys):
    assert cli.main(["doctor", "--no-extended"]) == 0
    assert "and those that it misses" not in capsys.readouterr().out


def test_doctor_says_why_nothing_can_be_recorded(capsys, monkeypatch):
    monkeypatch.setattr("tensorboard_plugin_darshan.recording.native._compiled", None)
    assert cli.main(["doctor"]) == 1
    assert "Recording is not available: recording is not available here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["demo", "--port", "x"], "'x' is not a port; give a number from 0 to 65535"),
        (["demo", "--port", "70000"], "'70000' is not a port"),
        (["demo", "--port", "-1"], "--port"),
    ],
)
def test_wrong_usage_is_explained(capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["demo"], ["doctor"]])
def test_help_is_given(capsys, command):
    with pytest.raises(SystemExit) as caught:
        cli.main([*command, "--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: tensorboard-darshan")
    assert "I/O" in out or "recorded" in out


def test_demo_without_tensorflow_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    assert cli.main(["demo", "--logdir", str(tmp_path), "--no-serve"]) == 1
    err = capsys.readouterr().err
    assert "pip install 'tensorboard-plugin-darshan[demo]'" in err
    assert list(tmp_path.iterdir()) == []


def test_demo_where_nothing_can_be_recorded_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tensorboard_plugin_darshan.recording.native._compiled", None)
    assert cli.main(["demo", "--logdir", str(tmp_path), "--no-serve"]) == 1
    assert "recording is not available here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_demo_in_a_file_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "_frameworks", lambda: (None, None))
    path = tmp_path / "file"
    path.write_text("")
    assert cli.main(["demo", "--logdir", str(path), "--no-serve"]) == 1
    assert capsys.readouterr().err.startswith(f"tensorboard-darshan: Not a directory ({path}")


def test_runs_of_one_second_have_directories_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr("time.strftime", lambda form: "now")
    names = [demo._create_run_directory(tmp_path).name for _ in range(3)]
    assert names == ["now", "now-2", "now-3"]


def test_data_set_has_files_of_all_sizes(tmp_path):
    images = demo_data.plan(tmp_path)
    sizes = sorted(image.file_bytes for image in images)
    assert len({image.path for image in images}) == len(images) == 340
    assert 250e6 < sum(sizes) < 400e6
    assert sizes[0] < 2000
    assert sizes[-1] > 20e6
    assert sum(size < 13_000 for size in sizes) > len(sizes) / 2
    for split in demo_data.SPLITS:
        own = [image for image in images if image.split == split]
        assert {image.label for image in own} == set(range(len(demo_data.CLASSES)))
        assert max(image.file_bytes for image in own) > 10e6


def test_bitmaps_are_decodable_and_always_the_same(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    contents = []
    for directory in (tmp_path / "a", tmp_path / "b"):
        images = demo_data.plan(directory)[:9]
        demo_data.write(images)
        demo_data.forget(images)
        contents.append([image.path.read_bytes() for image in images])
        for image in images:
            assert image.path.stat().st_size == image.file_bytes
            with image_module.open(image.path) as decoded:
                assert decoded.size == (image.side, image.side)
                assert decoded.mode == "RGB"
                decoded.load()
    assert contents[0] == contents[1]
    assert len(set(contents[0])) == 9


def test_files_that_are_there_are_kept_and_torn_ones_replaced(tmp_path):
    kept, torn = demo_data.plan(tmp_path)[:2]
    demo_data.write([kept, torn])
    before = kept.path.stat().st_mtime_ns
    torn.path.write_bytes(b"BM")
    demo_data.write([kept, torn])
    assert kept.path.stat().st_mtime_ns == before
    assert torn.path.stat().st_size == torn.file_bytes


def test_command_line_imports_nothing_heavy():
    code = """
import sys
import tensorboard_plugin_darshan.cli
heavy = {"keras", "tensorflow", "plotly", "pandas", "werkzeug", "darshan"} & set(sys.modules)
assert not heavy, heavy
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
