from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_darshan.window import HISTOGRAM_EDGES
from tests.support import figures
from tests.support.dashboard import Dashboard
from tests.support.recordings import Recorder, Use, write_recording

FIGURES = (
    ("timeline", "figure"),
    ("file_bandwidth", "figure"),
    ("access_sizes", "figure"),
    ("access_sizes", "pattern_figure"),
)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    """One second of reading 40 files, one of writing a checkpoint, one of silence."""
    log_dir = tmp_path_factory.mktemp("logs")
    recorder = Recorder()
    reads = [Use(f"/data/{i:02}<b>.jpg", reads=4, access_bytes=50_000) for i in range(40)]
    write_recording(
        log_dir / "a",
        [
            recorder.window({"POSIX": reads}, phase="train", epoch=0),
            recorder.window(
                {"POSIX": [Use("/ckpt", writes=8, access_bytes=2**21, call_seconds=0.1)]},
                phase="checkpoint",
                epoch=0,
            ),
            recorder.window({}, phase="train", epoch=1),
        ],
    )
    return Dashboard(log_dir)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("route", "key"), FIGURES)
def test_plotly_accepts_the_figure(dashboard: Dashboard, route: str, key: str, theme: str) -> None:
    figure = dashboard.get(route, run="a", theme=theme)[key]
    figures.check(figure)
    background = {"light": "#ffffff", "dark": "#2b2b2b"}[theme]
    assert figure["layout"]["paper_bgcolor"] == background
    assert "Roboto" in figure["layout"]["font"]["family"]


@pytest.mark.parametrize(("route", "key"), FIGURES)
def test_revision_keeps_zoom_of_the_same_stretch_only(
    dashboard: Dashboard, route: str, key: str
) -> None:
    def revision(**arguments: float) -> str:
        figure = dashboard.get(route, run="a", **arguments)[key]
        return str(figure["layout"].get("uirevision"))

    assert revision() == "a"
    assert revision(end=1.5) == revision(end=1.5)
    assert revision(end=1.5) not in (revision(), revision(end=1.8))


@pytest.mark.parametrize(("route", "key"), FIGURES)
def test_read_and_write_have_their_colours(dashboard: Dashboard, route: str, key: str) -> None:
    text = dashboard.response(route, run="a", theme="light").get_data(as_text=True)
    assert "#0072b2" in text
    assert "#c25400" in text


def test_timeline_holds_all_bytes_where_they_happened(dashboard: Dashboard) -> None:
    answer = dashboard.get("timeline", run="a")
    assert answer["bin_seconds"] == pytest.approx(0.01)
    assert answer["bins"] == 300
    read = figures.trace(answer["figure"], "read")
    edges, values = figures.array(read["x"]), figures.array(read["y"])
    assert edges[0] == 0.0
    assert edges[-1] == pytest.approx(3.0)
    moved = values[:-1].astype(float) * np.diff(edges)
    assert moved[:100].sum() == pytest.approx(40 * 4 * 50_000, rel=1e-5)
    assert moved[100:].sum() == 0
    write = figures.trace(answer["figure"], "write")
    down = figures.array(write["y"])[:-1].astype(float) * np.diff(edges)
    assert down[100:200].sum() == pytest.approx(8 * 2**21, rel=1e-5)
    calls = figures.array(figures.trace(answer["figure"], "calls")["y"])[:-1]
    assert (calls[:100] * 0.01).sum() == pytest.approx(40 * 5, rel=1e-5)


def test_timeline_grows_both_ways_from_one_zero_line(dashboard: Dashboard) -> None:
    layout = dashboard.get("timeline", run="a")["figure"]["layout"]
    read, write = layout["yaxis"], layout["yaxis4"]
    assert read["domain"][0] == write["domain"][1]
    assert read["range"][0] == write["range"][1] == 0.0
    assert read["range"][1] > 8e6
    assert write["range"][0] > 8 * 2**21
    for side in (read, write):
        assert side["tickvals"]
        assert all(tick >= 0 for tick in side["tickvals"])
        assert all(text.endswith("B/s") for text in side["ticktext"])


def test_timeline_says_when_read_and_write_have_different_scales(
    tmp_path: Path,
) -> None:
    for name, writes in (("similar", 60), ("different", 6000)):
        window = Recorder().window({"POSIX": [Use("/a", reads=100, writes=writes)]})
        write_recording(tmp_path / name, [window])
    dashboard = Dashboard(tmp_path)
    heights = {}
    for name in ("similar", "different"):
        figure = dashboard.get("timeline", run=name)["figure"]
        said = "read and write on different scales" in " ".join(figures.texts(figure))
        assert said == (name == "different")
        read, write = figure["layout"]["yaxis"], figure["layout"]["yaxis4"]
        low, high = (side["domain"][1] - side["domain"][0] for side in (write, read))
        heights[name] = high / low
    assert heights["similar"] == pytest.approx(100 / 60)
    assert heights["different"] == pytest.approx(1 / 3)


def test_timeline_without_writes_has_no_lower_half(tmp_path: Path) -> None:
    recorder = Recorder()
    write_recording(tmp_path / "a", [recorder.window({"POSIX": [Use("/a", reads=100)]})])
    figure = Dashboard(tmp_path).get("timeline", run="a")["figure"]
    figures.check(figure)
    assert not figure["layout"]["yaxis4"]["visible"]


def test_timeline_hover_is_in_words_with_units(dashboard: Dashboard) -> None:
    figure = dashboard.get("timeline", run="a")["figure"]
    read = figures.trace(figure, "read")
    assert read["text"][0] == "7.63 MiB/s"
    assert len(read["text"]) == len(figures.array(read["x"]))
    assert "busy" in figures.trace(figure, "in flight")["text"][0]


def test_timeline_names_and_shades_phases(dashboard: Dashboard) -> None:
    figure = dashboard.get("timeline", run="a")["figure"]
    names = {"train, epoch 1", "checkpoint, epoch 1", "train, epoch 2"}
    assert names <= set(figures.texts(figure))
    spans = {(shape["x0"], shape["x1"]) for shape in figure["layout"]["shapes"]}
    assert spans == {(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)}


def test_timeline_of_a_stretch_shows_just_it(dashboard: Dashboard) -> None:
    answer = dashboard.get("timeline", run="a", start=1.25, end=1.75)
    assert answer["figure"]["layout"]["xaxis"]["range"] == [1.25, 1.75]
    edges = figures.array(figures.trace(answer["figure"], "read")["x"])
    assert edges[0] == pytest.approx(1.25)
    assert edges[-1] == pytest.approx(1.75)


def test_timeline_never_has_more_than_2000_bins(tmp_path: Path) -> None:
    recorder = Recorder(window_seconds=7.3)
    uses = {"POSIX": [Use("/a", reads=1000)]}
    write_recording(tmp_path / "a", [recorder.window(uses) for _ in range(9)])
    dashboard = Dashboard(tmp_path)
    whole = dashboard.get("timeline", run="a")
    assert whole["bin_seconds"] == pytest.approx(0.04)
    assert 1000 < whole["bins"] <= 2000
    assert dashboard.get("timeline", run="a", start=10, end=20)["bin_seconds"] == 0.01


def test_every_file_counts_once_in_the_histogram(dashboard: Dashboard) -> None:
    answer = dashboard.get("file_bandwidth", run="a")
    assert answer["files"] == {"read": 40, "write": 1}
    read = figures.trace(answer["figure"], "read")
    assert figures.array(read["y"]).tolist() == [40]
    bandwidth = 50_000 / 1e-3
    width = HISTOGRAM_EDGES[1] / HISTOGRAM_EDGES[0]
    assert 1 / width < answer["median"]["read"] / bandwidth < width
    centre = 10 ** figures.array(read["x"])[0]
    assert 1 / width < centre / bandwidth < width


def test_histogram_hover_names_the_slowest_and_escapes(dashboard: Dashboard) -> None:
    read = figures.trace(dashboard.get("file_bandwidth", run="a")["figure"], "read")
    (text,) = read["hovertext"]
    assert text.startswith("<b>40 files</b> read at ")
    assert text.count("&lt;b&gt;.jpg 47.7 MiB/s") == 3
    assert "/00<b>" not in text


def test_histogram_axis_is_labelled_log_with_decades(dashboard: Dashboard) -> None:
    axis = dashboard.get("file_bandwidth", run="a")["figure"]["layout"]["xaxis"]
    assert "log scale" in axis["title"]["text"]
    assert "10 MiB/s" in axis["ticktext"]
    place = axis["tickvals"][axis["ticktext"].index("10 MiB/s")]
    assert 10**place == pytest.approx(10 * 2**20)


def test_access_sizes_are_mirrored_over_ten_ranges(dashboard: Dashboard) -> None:
    answer = dashboard.get("access_sizes", run="a")
    figure = answer["figure"]
    read, write = figures.trace(figure, "read"), figures.trace(figure, "write")
    assert len(read["x"]) == 10
    assert read["x"] == write["x"]
    assert dict(zip(read["x"], figures.array(read["y"]), strict=True))["10 KiB–100 KiB"] == 160
    assert dict(zip(write["x"], figures.array(write["y"]), strict=True))["1 MiB–4 MiB"] == -8
    assert [row["reads"] for row in answer["sizes"]] == figures.array(read["y"]).tolist()
    assert all(text[0].isdigit() for text in figure["layout"]["yaxis"]["ticktext"])


def test_pattern_adds_up(dashboard: Dashboard) -> None:
    pattern = dashboard.get("access_sizes", run="a")["pattern"]
    assert pattern["reads"] == {
        "consecutive": 120,
        "sequential": 40,
        "other": 0,
        "total": 160,
    }
    assert pattern["writes"] == {"consecutive": 0, "sequential": 0, "other": 8, "total": 8}


def test_common_sizes_come_with_shares(dashboard: Dashboard) -> None:
    common = dashboard.get("access_sizes", run="a")["common_sizes"]
    assert common == [
        {"module": "POSIX", "size_bytes": 50_000, "count": 160, "share": 160 / 168},
        {"module": "POSIX", "size_bytes": 2**21, "count": 8, "share": 8 / 168},
    ]
    late = dashboard.get("access_sizes", run="a", start=1)["common_sizes"]
    assert late == [{"module": "POSIX", "size_bytes": 2**21, "count": 8, "share": 1.0}]


@pytest.mark.parametrize(("route", "key"), FIGURES)
def test_silence_gives_an_empty_figure_and_a_note(
    dashboard: Dashboard, route: str, key: str
) -> None:
    answer = dashboard.get(route, run="a", start=2.5, end=2.9)
    assert answer["notes"]
    if route != "timeline":
        assert answer[key] == {"data": [], "layout": {}}


def test_access_sizes_of_stdio_are_explained(dashboard: Dashboard) -> None:
    answer = dashboard.get("access_sizes", run="a", module="STDIO")
    assert answer["figure"]["data"] == []
    assert "STDIO has no counters of access sizes" in answer["notes"][0]
    assert answer["common_sizes"] == []


def test_definitions_are_sentences(dashboard: Dashboard) -> None:
    for route in ("timeline", "file_bandwidth", "access_sizes"):
        definitions = dashboard.get(route, run="a")["definitions"]
        assert definitions
        assert all(text.endswith(".") for text in definitions)
