-- The store of a sweep (alight.sweep-store/2). docs/reference/sweep.md describes it.
-- No table has a hidden row number: the order in which rows came leaves no trace.

-- What reports need of the file: schema, title, seed, design, objectives, constraints, the command.
CREATE TABLE sweep (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- What decides the runs, with its identity: program, design, machines, workloads; the file itself.
CREATE TABLE provenance (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;

-- Schedulers as the file has them, with `*` for each value that varies.
CREATE TABLE templates (
    template TEXT PRIMARY KEY,
    first_setting INTEGER NOT NULL,
    settings INTEGER NOT NULL
) WITHOUT ROWID;

-- What varies of a template: tunables, then figures of the machines.
CREATE TABLE factors (
    template TEXT NOT NULL,
    place INTEGER NOT NULL,
    factor TEXT NOT NULL,
    is_figure INTEGER NOT NULL,
    levels INTEGER NOT NULL,
    range TEXT NOT NULL,
    PRIMARY KEY (template, place)
) WITHOUT ROWID;

CREATE TABLE cells (
    cell INTEGER NOT NULL PRIMARY KEY,
    machine TEXT NOT NULL,
    workload TEXT NOT NULL
) WITHOUT ROWID;

-- Setting 0 is the base.
CREATE TABLE settings (
    cell INTEGER NOT NULL,
    setting INTEGER NOT NULL,
    scheduler TEXT NOT NULL,
    template TEXT,
    PRIMARY KEY (cell, setting)
) WITHOUT ROWID;

-- The value of each factor: its place among the factor's values, as typed, and as a number.
CREATE TABLE levels (
    cell INTEGER NOT NULL,
    setting INTEGER NOT NULL,
    factor TEXT NOT NULL,
    level INTEGER NOT NULL,
    value TEXT NOT NULL,
    number REAL,
    PRIMARY KEY (cell, setting, factor)
) WITHOUT ROWID;

CREATE TABLE metric_names (
    metric TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    unit TEXT NOT NULL,
    better TEXT
) WITHOUT ROWID;

CREATE TABLE runs (
    cell INTEGER NOT NULL,
    setting INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    hash TEXT NOT NULL,
    end_ns INTEGER NOT NULL,
    PRIMARY KEY (cell, setting, seed)
) WITHOUT ROWID;

CREATE TABLE metrics (
    cell INTEGER NOT NULL,
    setting INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (cell, setting, seed, metric)
) WITHOUT ROWID;

-- Decisions by step, but for steps that decided nothing.
CREATE TABLE steps (
    cell INTEGER NOT NULL,
    setting INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    step TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    PRIMARY KEY (cell, setting, seed, step)
) WITHOUT ROWID;

-- Cells that are complete. With `until`: the widest interval, and whether it is as narrow as asked.
CREATE TABLE ends (
    cell INTEGER NOT NULL PRIMARY KEY,
    runs INTEGER NOT NULL,
    most INTEGER NOT NULL,
    half_width_percent REAL,
    known INTEGER
) WITHOUT ROWID;

-- Cells that cannot run: their machine cannot be with these figures, or the simulator refuses a run.
-- They have a row in `cells`, their settings and levels, and no run.
CREATE TABLE refused (
    cell INTEGER NOT NULL PRIMARY KEY,
    why TEXT NOT NULL
) WITHOUT ROWID;

-- One row for each number of each run, with names: what most questions begin with.
CREATE VIEW results AS
SELECT cells.cell, cells.machine, cells.workload, settings.setting, settings.scheduler,
       settings.template, metrics.seed, metrics.metric, metric_names.kind, metric_names.unit,
       metric_names.better, metrics.value
FROM metrics
JOIN cells ON cells.cell = metrics.cell
JOIN settings ON settings.cell = metrics.cell AND settings.setting = metrics.setting
JOIN metric_names ON metric_names.metric = metrics.metric;
