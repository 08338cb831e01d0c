"""Tables of the five documents, and what the documents state of their machines.

``data/<document>/`` is a Frictionless data package: one CSV per printed table (one row per printed row, one column per
printed column, nothing corrected) and ``datapackage.json``, which gives types, units, keys, constraints, source, and
the layout in which analysis wants each table.  ``data/machines/`` is one, too.  ``data/README.md`` has the conventions.
Tests validate the packages.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path

from supercomputers_rerun import HOME
from supercomputers_rerun.companion.common import np, pd, write_netcdf, write_text, write_zip, xr

DATA = HOME / "data"


def documents() -> list[str]:
    """Identifiers of the documents that have tables."""
    return sorted(path.parent.name for path in DATA.glob("*/datapackage.json") if path.parent.name != "machines")


@cache
def package(document: str) -> dict:
    """The data package of one document, or of ``machines``.  ``ValueError`` where there is none."""
    if document not in (*documents(), "machines"):
        raise ValueError(f"document {document!r} is unknown; choose one of {', '.join(documents())}.")
    try:
        return json.loads((DATA / document / "datapackage.json").read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"data/{document}/datapackage.json is no JSON: {error}") from None


def names(document: str) -> list[str]:
    """Tables of one document, in the document's order."""
    return [resource["name"] for resource in package(document)["resources"]]


def describe(document: str, table: str) -> dict:
    """Descriptor of one table as it stands in ``datapackage.json``.  ``ValueError`` when unknown."""
    for resource in package(document)["resources"]:
        if resource["name"] == table:
            return resource
    known = names(document) + [view["name"] for view in package(document).get("views", [])]
    raise ValueError(f"table {table!r} of {document} is unknown; choose one of {', '.join(known)}.")


@cache
def _cells(document: str, table: str) -> pd.DataFrame:
    resource = describe(document, table)
    cells = pd.read_csv(DATA / document / resource["path"], dtype=str, keep_default_na=False).astype(object)
    for name in (field["name"] for field in resource["schema"]["fields"]):
        if name not in cells:
            raise ValueError(
                f"data/{document}/{resource['path']}, line 1: it lacks the column {name!r} of datapackage.json; "
                f"its columns are {', '.join(cells)}"
            )
    return cells


def text(document: str, table: str) -> pd.DataFrame:
    """Every cell of a table as the text that is printed, empty where nothing is."""
    return _cells(document, table).copy()


def printed(document: str, table: str) -> pd.DataFrame:
    """Rows and columns as printed, typed by the descriptor, with the ``note`` column.

    Numbers are float64 (NaN where nothing is printed) or int64; text is ``""`` where nothing is printed.
    """
    schema, cells = describe(document, table)["schema"], text(document, table)
    cells = cells.mask(cells.isin(schema.get("missingValues", [""])), "")  # a dash or asterisks stay in ``text``
    columns = {}
    for field in schema["fields"]:
        try:
            columns[field["name"]] = _typed(field, cells[field["name"]])
        except ValueError as error:
            path = describe(document, table)["path"]
            raise ValueError(f"data/{document}/{path}, column {field['name']}: {error}") from None
    return pd.DataFrame(columns)


def _typed(field: dict, column: pd.Series) -> pd.Series:
    if field["type"] == "string":
        return column
    empty = (column == "").any()
    if field["type"] == "boolean":
        values = dict.fromkeys(field.get("trueValues", ["true"]), True)
        values |= dict.fromkeys(field.get("falseValues", ["false"]), False)
        return column.map(values).astype(object if empty else bool)
    return column.replace("", "nan").astype("int64" if field["type"] == "integer" and not empty else float)


def half_unit(text: str) -> float:
    """Half a unit in the last printed place: ``"0.354"`` gives 0.0005, ``"12e15"`` gives 5e14."""
    mantissa, _, exponent = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def half(field: dict, cell: str, unit: str | None = None) -> float:
    """Half the printed resolution of one cell: 0 for exact counts, NaN for text and empty cells.

    A column says ``"exact": true`` for counts, ``"resolution": r`` where trailing zeros are not significant;
    a fact in the unit ``count`` is exact.
    """
    try:
        float(cell)
    except ValueError:
        return math.nan
    if field.get("exact") or unit == "count":
        return 0.0
    return 0.5 * field["resolution"] if "resolution" in field else half_unit(cell)


def digits(document: str, table: str) -> pd.DataFrame:
    """Half a unit in the last printed place of every cell (see ``half``), same shape as ``printed``.

    NaN in columns of text, and for a fact that has no unit.
    """
    resource, cells = describe(document, table), text(document, table)
    facts = resource.get("facts", {"values": {}})
    units = cells[facts["unit"]] if "unit" in facts else [None] * len(cells)
    found = {}
    for field in resource["schema"]["fields"]:
        name = field["name"]
        numeric = field["type"] in ("integer", "number") or name in facts["values"]
        known = [numeric and unit != "" for unit in units]
        found[name] = [
            half(field, cell, unit) if holds else math.nan
            for cell, unit, holds in zip(cells[name], units, known, strict=True)
        ]
    return pd.DataFrame(found)


def load(document: str, table: str) -> xr.Dataset:
    """A table as ``xarray.Dataset`` with the dimensions its descriptor declares.

    Variables carry ``units`` and ``long_name``, the dataset ``title``, ``document`` and ``source``. A combination is
    NaN (or ``""``) where the document prints nothing for it. ``ValueError`` when the table is unknown.  A *view* of
    several tables has a name like a table.
    """
    return _load(document, table).copy(deep=True)


def _attributes(field: dict) -> dict:
    attributes = {"long_name": field["description"]}
    if field["type"] in ("integer", "number"):
        attributes["units"] = field.get("unit", "1")
    return attributes


def cube(frame: pd.DataFrame, resource: dict) -> xr.Dataset:
    """Rows to dimensions: ``dims`` (default: the primary key), wide columns to one by ``stack``."""
    fields = {field["name"]: _attributes(field) for field in resource["schema"]["fields"]}
    dims = list(resource.get("dims", resource["schema"]["primaryKey"]))
    stack = resource.get("stack", {"variables": {}})
    wide = [name for columns in stack["variables"].values() for name in columns if name]
    order = {dim: list(dict.fromkeys(frame[dim])) for dim in dims}
    narrow = frame.drop(columns=wide).set_index(dims)
    dataset = narrow.to_xarray().reindex(order)
    for variable, columns in stack["variables"].items():
        found = [frame.set_index(dims)[name].to_xarray().reindex(order) if name else None for name in columns]
        blank = xr.full_like(next(part for part in found if part is not None), math.nan, dtype=float)
        labels = xr.DataArray(stack["labels"], dims=stack["dim"], name=stack["dim"])
        parts: list[xr.DataArray] = [blank if part is None else part for part in found]
        dataset[variable] = xr.concat(parts, dim=labels).transpose(..., stack["dim"])
        fields[variable] = dict(fields[next(name for name in columns if name)])
        fields[variable]["long_name"] = stack.get("long_names", {}).get(variable, fields[variable]["long_name"])
    if wide:
        fields[stack["dim"]] = {"long_name": stack.get("description", stack["dim"])}
    return _labelled(dataset, fields)


def _labelled(dataset: xr.Dataset, fields: dict) -> xr.Dataset:
    """Attach attributes; make text columns text, with ``""`` for what is not printed."""
    for name, variable in dataset.variables.items():
        if variable.dtype == object:
            values = ["" if pd.isna(value) else str(value) for value in variable.values.ravel()]
            assign = dataset.assign_coords if name in dataset.coords else dataset.assign
            dataset = assign({name: (variable.dims, np.array(values).reshape(variable.shape))})
        dataset[name].attrs.update(fields.get(name, {}))
    return dataset


def tree(frame: pd.DataFrame, resource: dict) -> xr.Dataset:
    """A printed hierarchy: dimension ``node``, coordinates ``parent`` and ``depth``, rows printed twice once.

    A heading repeats its node under itself; only the root keeps that row.
    """
    node, parent = resource["tree"]["node"], resource["tree"]["parent"]
    root = frame[node].iloc[0]
    frame = frame[(frame[parent] != frame[node]) | (frame[node] == root)]
    up = dict(zip(frame[node], frame[parent], strict=True))
    depth = []
    for name in frame[node]:
        steps = 0
        while name != root:
            name, steps = up[name], steps + 1
        depth.append(steps)
    fields = {field["name"]: _attributes(field) for field in resource["schema"]["fields"]}
    above = [up[name] if name != root else "" for name in frame[node]]
    dataset = _labelled(frame.drop(columns=parent).set_index(node).to_xarray(), fields)
    dataset = dataset.assign_coords(parent=(node, above), depth=(node, depth))
    dataset["depth"].attrs.update(long_name="steps from the root", units="1")
    return dataset


def facts(frame: pd.DataFrame, resource: dict) -> xr.Dataset:
    """One variable per row, with its own unit; several value columns become a dimension."""
    layout = resource["facts"]
    dim = layout.get("dim")
    variables = {}
    for _, row in frame.iterrows():
        unit = row[layout["unit"]]
        cells = [row[column] for column in layout["values"]]
        values = [float(cell) if cell else math.nan for cell in cells] if unit else cells
        attributes = {"long_name": row.get("description") or row[layout["key"]]} | ({"units": unit} if unit else {})
        if row.get("note"):
            attributes["note"] = row["note"]
        variables[row[layout["key"]]] = (dim, values, attributes) if dim else ((), values[0], attributes)
    coords = {dim: (dim, list(layout["values"].values()))} if dim else {}
    return xr.Dataset(variables, coords=coords)


@cache
def _load(document: str, table: str) -> xr.Dataset:
    for view in package(document).get("views", []):
        if view["name"] == table:
            return _view(document, view)
    resource = describe(document, table)
    if "facts" in resource:
        dataset = facts(text(document, table), resource)
    elif "tree" in resource:
        dataset = tree(printed(document, table), resource)
    else:
        dataset = cube(printed(document, table), resource)
    return dataset.assign_attrs(title=resource["title"], document=document, source=source(document, resource))


def citation(document: str) -> str:
    """Authors, title, institution and date of a document."""
    return package(document)["document"]["citation"]


def short(document: str) -> str:
    """First authors and year of a document: Hague 2006."""
    authors, *_, date = citation(document).split(", ")
    surnames = re.sub(r"\b(?:[A-Z]\. ?)+", "", authors)
    return f"{surnames} {date[-4:]}"


def where(resource: dict) -> str:
    """Where a table stands in its document: figure or slide, page where known."""
    page = resource.get("page")
    return resource["item"] + (f", page {page}" if page else "")


def source(document: str, resource: dict) -> str:
    """Citation of one table: document, figure or slide, page where known."""
    return f"{citation(document)}, {where(resource)}"


def _view(document: str, view: dict) -> xr.Dataset:
    """Several tables of one shape side by side along a new dimension."""
    parts = [_load(document, name) for name in view["tables"]]
    labels = xr.DataArray(view["labels"], dims=view["dim"], name=view["dim"], attrs={"long_name": view["dim"]})
    joined = xr.concat(parts, dim=labels, join="outer", combine_attrs="drop_conflicts", data_vars="all")
    joined = joined.reindex(
        {dim: list(dict.fromkeys(value for part in parts for value in part[dim].values)) for dim in parts[0].dims}
    )  # printed order; an outer join sorts
    for name in [name for name, variable in joined.data_vars.items() if variable.dtype == object]:
        joined[name] = joined[name].fillna("").astype(str)
    return joined.assign_attrs(
        title=view["title"],
        document=document,
        tables=", ".join(view["tables"]),
        source="; ".join(part.attrs["source"] for part in parts),
    )


def anchor(document: str, table: str) -> str:
    """The address of a printed table on the record of its chapter."""
    return f"tab-{re.sub(r'[^A-Za-z0-9]+', '-', f'{document}-{table}').strip('-').lower()}"


def drawn(html: str, document: str) -> list[tuple[str, str]]:
    """Document and name of each table that a figure of a document says it draws: ``tables`` of ``show``."""
    found = re.search(r'<figure[^>]* data-tables="([^"]+)"', html)
    return addressed(found[1] if found else "", document)


def addressed(said: str, document: str) -> list[tuple[str, str]]:
    """Document and name of each table of a list, ``"smt_benefit p5plus/drhook"``, in a chapter of ``document``."""
    return [(home or document, table) for home, _, table in (name.rpartition("/") for name in said.split())]


@cache
def by_anchor() -> dict[str, tuple[str, str]]:
    """Every printed table by its address on a record."""
    return {anchor(document, name): (document, name) for document in documents() for name in names(document)}


def places(found) -> dict[str, list[str]]:
    """Where the tables ``(document, table)`` are printed, by document: figures, tables, pages, slides."""
    said: dict[str, list[str]] = {}
    for document, name in found:
        place = where(describe(document, name))
        if place not in said.setdefault(document, []):
            said[document].append(place)
    return said


def printed_in(found) -> str:
    """:func:`places` in words: Fineberg 1993, Table 1, page 7; Hague 2006.  A table of several slides names each."""
    named = {
        document: [each for each in said if not each.startswith("the ")] for document, said in places(found).items()
    }
    return "; ".join(", ".join([short(document), *said]) for document, said in named.items())


def catalogue() -> pd.DataFrame:
    """Every table: document, table, title, source, rows, columns, numeric cells, cells with a note."""
    records = []
    for document in documents():
        for name in names(document):
            resource, cells = describe(document, name), text(document, name)
            counted = int(digits(document, name).notna().to_numpy().sum())
            notes = int((cells["note"] != "").sum()) if "note" in cells else 0
            about = (document, name, resource["title"], source(document, resource))
            records.append((*about, *cells.shape, counted, notes))
    columns = ["document", "table", "title", "source", "rows", "columns", "numeric_cells", "notes"]
    return pd.DataFrame(records, columns=columns)


def machines() -> xr.Dataset:
    """What the documents state about the historical machines, ``Dataset`` along ``machine``.

    A variable for each property in its canonical unit, NaN (or ``""``) where no document states it.
    ``text("machines", "machines")`` has a row for each statement.
    """
    return _machines().copy(deep=True)


@cache
def _machines() -> xr.Dataset:
    rows = text("machines", "machines")
    order = list(dict.fromkeys(rows["machine"]))
    variables: dict[str, tuple] = {}
    for name, about in package("machines")["properties"].items():
        chosen, unit = rows[rows["property"] == name].set_index("machine"), about["unit"]
        stated = chosen["value"].astype(float) * chosen["unit"].map(about["accepts"]) if unit else chosen["value"]
        values = stated.reindex(order, fill_value=math.nan if unit else "").tolist()
        attributes = {"units": unit} if unit else {}
        variables[name] = ("machine", values, attributes | {"long_name": about["description"]})
    return xr.Dataset(variables, coords={"machine": order})


def download(folder: Path | str) -> list[Path]:
    """Write ``<document>/<table>.csv``, ``<document>/<table>.nc`` and ``data.zip`` under ``folder``.

    The zip has the data package of each document and that of the machines, and ``README.md``.  The folder is made where
    it is missing; every file takes its name when it is whole.  Returns the paths written. ``OSError`` when a file
    cannot be written.
    """
    members, written = [DATA / "README.md"], []
    for document in (*documents(), "machines"):
        paths = [resource["path"] for resource in package(document)["resources"]]
        members += [DATA / document / path for path in ("datapackage.json", *paths)]
    for document in documents():
        for name in names(document):
            dataset, stem = load(document, name), Path(folder) / document / name
            source = DATA / document / f"{name}.csv"
            written += [
                write_text(stem.with_suffix(".csv"), source.read_text(encoding="utf-8"), overwrite=True),
                write_netcdf(dataset, stem.with_suffix(".nc")),
            ]
    return [*written, write_zip(Path(folder) / "data.zip", "supercomputers-rerun-data", DATA, members)]
