# SPDX-License-Identifier: GPL-2.0-only
"""Reads the store of a sweep with each program that docs/reference/sweep.md names, and holds what
they see against the table that `alight sweep export` wrote: readers.py STORE CSV"""

import csv
import importlib.util
import pathlib
import sqlite3
import sys

import duckdb
import pandas
import polars

STORE, TABLE = sys.argv[1:]
METRIC = "elapsed_s"
QUERY = "SELECT * FROM results"


def by_duckdb():
    found = importlib.util.find_spec("duckdb_extension_sqlite_scanner")
    extension = next(pathlib.Path(found.origin).parent.rglob("*.duckdb_extension"))
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH '{STORE}' AS first (TYPE sqlite)")
    rows = connection.execute("SELECT scheduler, seed, metric, value FROM first.results").fetchall()
    numbers = connection.execute("SELECT sum(number) FROM first.levels").fetchone()[0]
    return rows, numbers


def by_pandas():
    connection = sqlite3.connect(STORE)
    frame = pandas.read_sql(QUERY, connection)
    assert str(frame["value"].dtype) == "float64", frame.dtypes
    assert str(frame["seed"].dtype) == "int64", frame.dtypes
    levels = pandas.read_sql("SELECT * FROM levels", connection)
    rows = frame[["scheduler", "seed", "metric", "value"]].itertuples(index=False, name=None)
    return list(rows), levels["number"].sum()


def by_polars():
    connection = sqlite3.connect(STORE)
    frame = polars.read_database(QUERY, connection, infer_schema_length=None)
    assert frame.schema["value"] == polars.Float64, frame.schema
    levels = polars.read_database("SELECT * FROM levels", connection)
    return frame.select("scheduler", "seed", "metric", "value").rows(), levels["number"].sum()


def main():
    with open(TABLE, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    expected = sorted(
        (row["scheduler"], int(row["seed"]), row["metric"], float(row["value"])) for row in table
    )
    assert any(row[2] == METRIC for row in expected), "the table has no results"
    cells = {(row["cell"], row["setting"]): row for row in table}
    factors = ["bias-prev:spare", "memory.llc_line_ns"]
    numbers = sum(float(row[factor] or 0) for row in cells.values() for factor in factors)
    passed = failed = 0
    for name, read in [("DuckDB", by_duckdb), ("pandas", by_pandas), ("polars", by_polars)]:
        try:
            rows, found = read()
            assert sorted(rows) == expected, f"{len(rows)} rows, {len(expected)} in the table"
            assert found == numbers, f"levels sum to {found}, in the table to {numbers}"
            passed += 1
            print(f"{name} reads {len(rows)} rows, those of the table")
        except Exception as error:  # noqa: BLE001 the next program is still tried
            failed += 1
            print(f"FAIL {name}: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
