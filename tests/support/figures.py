"""Figures as they travel: read their arrays, and check them with plotly's own classes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import plotly.graph_objects as go


def array(values: Any) -> np.ndarray[Any, Any]:
    """The array in a figure, whether typed or a list."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values)


def trace(figure: Any, name: str) -> Any:
    """The one trace of that name."""
    (found,) = [trace for trace in figure["data"] if trace["name"] == name]
    return found


def check(figure: Any) -> None:
    """Raises unless plotly accepts every property, and every axis says quantity and unit."""
    go.Figure(figure)
    axes = {key: axis for key, axis in figure["layout"].items() if "axis" in key[:5]}
    assert len(axes) >= 2
    for key, axis in axes.items():
        assert axis["title"]["text"] or axis.get("type") == "category", key
    used = {trace.get("yaxis", "y").replace("y", "yaxis") for trace in figure["data"]}
    assert used <= axes.keys()


def texts(figure: Any) -> list[str]:
    """Texts of the annotations."""
    return [annotation["text"] for annotation in figure["layout"].get("annotations", [])]
