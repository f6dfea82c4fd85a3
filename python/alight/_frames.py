# SPDX-License-Identifier: GPL-2.0-only
"""Tables as data frames of pandas or polars, which are imported when one is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, Optional, Union

from . import _alight

Backend = Union[Literal["pandas"], Literal["polars"]]

_DTYPES = {"time": "i8", "int": "i8", "whole": "u8", "float": "f8", "bool": "?", "text": "i4"}


def frame(table: _alight.Table, backend: Optional[Backend] = None, categories: bool = False) -> Any:
    """The table as a data frame.

    backend: `pandas` or `polars`; `None`: the first of them that is installed.
    categories: words as categories, which long tables want; else as text.
    """
    if backend is None:
        backend = _installed()
    if backend == "pandas":
        return _pandas(table, categories)
    if backend == "polars":
        return _polars(table, categories)
    raise _alight.BadInput(f"backend {backend!r}: expected 'pandas' or 'polars'")


def _installed() -> Backend:
    if find_spec("pandas"):
        return "pandas"
    if find_spec("polars"):
        return "polars"
    raise ImportError(
        "a data frame needs pandas or polars: pip install 'alight[pandas]' or 'alight[polars]'"
    )


def _polars(table: _alight.Table, categories: bool) -> Any:
    import polars

    frame = polars.DataFrame(table)
    return frame if categories else frame.cast({polars.Categorical: polars.String})


def _pandas(table: _alight.Table, categories: bool) -> Any:
    import pandas

    columns = {column[0]: _series(column, categories) for column in table.columns()}
    names = list(columns)
    if not table.has_index():
        return pandas.DataFrame(columns)
    index = pandas.Index(columns.pop(names[0]), name=names[0])
    return pandas.DataFrame(columns, index=index)


def _series(column: _alight._Column, categories: bool) -> Any:
    """The values of a column as pandas takes them: times in seconds, missing ones NaN."""
    import numpy
    import pandas

    _, kind, _, words, present = column
    values = array(column)
    there = None if present is None else numpy.frombuffer(present, "?")
    if kind == "time":
        return values / 1e9
    if kind == "text":
        category = pandas.Categorical.from_codes(values, categories=words)
        return category if categories else pandas.Series(category.astype(object)).infer_objects()
    if there is None or there.all():
        return values
    if kind == "bool":
        return pandas.arrays.BooleanArray(values, ~there)
    return numpy.where(there, values, numpy.nan)


def array(column: _alight._Column) -> Any:
    """The values of a column as an array of its own; of text the places of the words."""
    import numpy

    return numpy.frombuffer(column[2], _DTYPES[column[1]]).copy()
