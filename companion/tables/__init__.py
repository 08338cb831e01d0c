"""Tables of the five documents and the data of their machines.

``data/<document>/`` holds one CSV per printed table (one row per printed row, one column per printed
column, nothing corrected) and ``resources.json``, which describes them: types, units, keys, constraints,
source, and the layout in which analysis wants them.  ``data/datapackage.json`` is made from these
descriptors by ``python -m companion.tables package``.  ``data/README.md`` gives the conventions.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Literal, overload

from companion.files import write_text
from companion.late import pd, xr
from companion.tables import csv, layouts
from companion.tables.csv import TableError, half_unit

DATA = Path(__file__).resolve().parents[2] / "data"


def documents() -> list[str]:
    """Identifiers of the documents that have tables."""
    return sorted(path.parent.name for path in DATA.glob("*/resources.json") if path.parent.name != "machines")


@cache
def _fragment(document: str) -> dict:
    if document not in documents() and document != "machines":
        raise TableError(f"document {document!r} is unknown; choose one of {', '.join(documents())}.")
    return csv.descriptor(DATA / document / "resources.json")


def names(document: str) -> list[str]:
    """Tables of one document, in the document's order; the files of ``machines``."""
    if document == "machines":
        return sorted(path.stem for path in (DATA / document).glob("*.csv"))
    return [resource["name"] for resource in _fragment(document)["resources"]]


def describe(document: str, table: str) -> dict:
    """Descriptor of one table as it stands in ``resources.json``.  Raises ``TableError`` when unknown."""
    if document == "machines" and table in names(document):
        return {"name": table, **_fragment(document)["each"]}
    for resource in _fragment(document)["resources"]:
        if resource["name"] == table:
            return resource
    views = [view["name"] for view in _fragment(document).get("views", [])]
    raise TableError(f"table {table!r} of {document} is unknown; choose one of {', '.join(names(document) + views)}.")


@cache
def _cells(document: str, table: str) -> tuple[tuple[str, ...], ...]:
    resource, path = describe(document, table), DATA / document / f"{table}.csv"
    body = csv.read(path, resource)
    (_check_machine if document == "machines" else _check_facts)(path, resource, body)
    return tuple(map(tuple, body))


def _check_facts(path: Path, resource: dict, body: list[list[str]]) -> None:
    """In a table of facts a value with a unit is a number."""
    facts = resource.get("facts")
    if not facts:
        return
    columns = [field["name"] for field in resource["schema"]["fields"]]
    unit = columns.index(facts["unit"])
    for number, row in enumerate(body, start=2):
        for column in facts["values"]:
            cell = row[columns.index(column)]
            if row[unit] and cell and not csv.is_number(cell):
                csv.fail(path, number, column, f"{cell!r} has the unit {row[unit]} but is not a number.")


def text(document: str, table: str) -> pd.DataFrame:
    """Every cell of a table as the text that is printed, empty where nothing is."""
    columns = [field["name"] for field in describe(document, table)["schema"]["fields"]]
    return pd.DataFrame(_cells(document, table), columns=columns, dtype=object)


def printed(document: str, table: str) -> pd.DataFrame:
    """Rows and columns as printed, typed by the descriptor, with the ``note`` column.

    Numbers are float64 (NaN where nothing is printed) or int64; text is ``""`` where nothing is printed.
    """
    frame = {}
    schema = describe(document, table)["schema"]
    missing = schema.get("missingValues", [""])  # a dash or asterisks, kept in ``text``
    for position, field in enumerate(schema["fields"]):
        column = ["" if row[position] in missing else row[position] for row in _cells(document, table)]
        frame[field["name"]] = _typed(field, column)
    return pd.DataFrame(frame)


def _typed(field: dict, column: list[str]):
    if field["type"] == "string":
        return pd.Series(column, dtype=object)
    values = [csv.parse(field, cell) if cell else None for cell in column]
    if None in values:
        return pd.Series(
            [math.nan if value is None else value for value in values],
            dtype=object if field["type"] == "boolean" else float,
        )
    return pd.Series(values, dtype={"integer": "int64", "number": float, "boolean": bool}[field["type"]])


def half(field: dict, cell: str, unit: str | None = None) -> float:
    """Half the printed resolution of one cell: 0 for exact counts, NaN for text and empty cells.

    A column says ``"exact": true`` for counts, ``"resolution": r`` where trailing zeros are not significant;
    a fact in the unit ``count`` is exact.
    """
    if not cell or not csv.is_number(cell):
        return math.nan
    if field.get("exact") or unit == "count":
        return 0.0
    return 0.5 * field["resolution"] if "resolution" in field else half_unit(cell)


def digits(document: str, table: str) -> pd.DataFrame:
    """Half a unit in the last printed place of every cell (see ``half``), same shape as ``printed``."""
    resource = describe(document, table)
    cells = text(document, table)
    unit = cells[resource["facts"]["unit"]] if "facts" in resource else [None] * len(cells)
    numeric = _numeric_columns(resource)
    return pd.DataFrame(
        {
            field["name"]: [
                half(field, cell, u) if field["name"] in numeric and u != "" else math.nan
                for cell, u in zip(cells[field["name"]], unit, strict=True)
            ]
            for field in resource["schema"]["fields"]
        }
    )


def _numeric_columns(resource: dict) -> list[str]:
    """Columns whose cells are numbers: those of a numeric type, and the value columns of facts."""
    return [
        field["name"]
        for field in resource["schema"]["fields"]
        if field["type"] in ("integer", "number") or field["name"] in resource.get("facts", {}).get("values", {})
    ]


def load(document: str, table: str) -> xr.Dataset:
    """A table as ``xarray.Dataset`` with the dimensions its descriptor declares.

    Variables carry ``units`` and ``long_name``, the dataset ``title``, ``document`` and ``source``. A combination is
    NaN (or ``""``) where the document prints nothing for it. ``TableError`` when the table is unknown, or its CSV is
    damaged or does not match the descriptor.  A *view* of several tables has a name like a table.
    """
    try:
        return _load(document, table).copy(deep=True)
    except TableError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:  # a word or a column that it lacks
        what = " ".join(str(error).split())
        raise TableError(
            f"{DATA / document / 'resources.json'}: what it says of table {table} does not fit the table's columns "
            f"({type(error).__name__}: {what}); mend the descriptor"
        ) from error


@cache
def _load(document: str, table: str) -> xr.Dataset:
    for view in _fragment(document).get("views", []):
        if view["name"] == table:
            return _view(document, view)
    return _table(document, describe(document, table))


def forget() -> None:
    """Read everything anew at the next call, as other files or another :data:`DATA` need it."""
    for kept in (_fragment, _cells, _load, _machines):
        kept.cache_clear()


def _table(document: str, resource: dict) -> xr.Dataset:
    """One table, which is no view."""
    table = resource["name"]
    if "facts" in resource:
        dataset = layouts.facts(text(document, table), resource)
    elif "tree" in resource:
        dataset = layouts.tree(printed(document, table), resource)
    else:
        dataset = layouts.cube(printed(document, table), resource)
    return dataset.assign_attrs(title=resource["title"], document=document, source=source(document, resource))


def citation(document: str) -> str:
    """Authors, title, institution and date of a document."""
    return _fragment(document)["document"]["citation"]


def source(document: str, resource: dict) -> str:
    """Citation of one table: document, figure or slide, page where known."""
    parts = [citation(document), resource["item"]]
    if resource.get("page"):
        parts.append(f"page {resource['page']}")
    return ", ".join(parts)


def _view(document: str, view: dict) -> xr.Dataset:
    """Several tables of one shape side by side along a new dimension."""
    for name in view["tables"]:
        if name not in names(document):
            raise TableError(f"view {view['name']} of {document}: {name!r} is no table; name tables, and no views.")
    parts = [_table(document, describe(document, name)) for name in view["tables"]]
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


def catalogue() -> pd.DataFrame:
    """Every table: document, table, title, source, rows, columns, numeric cells, cells with a note."""
    records = []
    for document in documents():
        for name in names(document):
            resource = describe(document, name)
            cells = text(document, name)
            values = digits(document, name)
            counted = int(values.notna().to_numpy().sum())
            notes = int((cells["note"] != "").sum()) if "note" in cells else 0
            about = (document, name, resource["title"], source(document, resource))
            records.append((*about, *cells.shape, counted, notes))
    names_of = ["document", "table", "title", "source", "rows", "columns", "numeric_cells", "notes"]
    return pd.DataFrame(records, columns=names_of)


@overload
def machines(long: Literal[False] = False) -> xr.Dataset: ...


@overload
def machines(long: Literal[True]) -> pd.DataFrame: ...


def machines(long: bool = False) -> xr.Dataset | pd.DataFrame:
    """What the documents state about the historical machines.

    Returns a dataset along ``machine`` with one variable per property in its canonical unit, NaN (or ``""``)
    where no document states it; with ``long=True`` the rows of every file: machine, property, value and
    unit as printed, document, item, note.  Raises ``TableError`` for a property or unit out of place.
    """
    if not long:
        return _machines().copy(deep=True)
    return _stated()[["machine", "property", "value", "unit", "document", "item", "note"]]


def _stated() -> pd.DataFrame:
    frames = [text("machines", name).assign(machine=name) for name in names("machines")]
    return pd.concat(frames, ignore_index=True)


@cache
def _machines() -> xr.Dataset:
    rows = _stated()
    order = list(dict.fromkeys(rows["machine"]))
    variables: dict[str, tuple] = {}
    for name, about in _fragment("machines")["properties"].items():
        chosen, unit = rows[rows["property"] == name].set_index("machine"), about["unit"]
        stated = chosen["value"].astype(float) * chosen["unit"].map(about["accepts"]) if unit else chosen["value"]
        values = stated.reindex(order, fill_value=math.nan if unit else "").tolist()
        attributes = {"units": unit} if unit else {}
        variables[name] = ("machine", values, attributes | {"long_name": about["description"]})
    return xr.Dataset(variables, coords={"machine": order})


def _check_machine(path: Path, resource: dict, body: list[list[str]]) -> None:
    """Every property is known and carries one of its units; numbers are numbers."""
    properties = _fragment("machines")["properties"]
    for number, (name, value, unit, *_) in enumerate(body, start=2):
        accepted = properties[name]["accepts"] if name in properties else None
        if accepted is None:
            csv.fail(path, number, "property", f"{name!r} is none of {', '.join(properties)}.")
        if unit not in (accepted or [""]):
            csv.fail(path, number, "unit", f"{unit!r} is no unit of {name}; choose one of {', '.join(accepted)}.")
        if accepted and not csv.is_number(value):
            csv.fail(path, number, "value", f"{value!r} has the unit {unit} but is not a number.")


def package() -> dict:
    """The Frictionless data package of every table, put together from the descriptors."""
    resources = []
    for document in [*documents(), "machines"]:
        for name in names(document):
            resource = describe(document, name)
            extra = {key: value for key, value in resource.items() if key not in ("name", "schema", "page")}
            schema = {"missingValues": [""]} | resource["schema"]
            resources.append(
                {
                    "name": f"{document}-{name.replace('_', '-')}",
                    "path": f"{document}/{name}.csv",
                    "profile": "tabular-data-resource",
                    "format": "csv",
                    "mediatype": "text/csv",
                    "encoding": "utf-8",
                    "sources": [{"title": source(document, resource)}],
                    **extra,
                    "schema": schema,
                }
            )
    return {
        "name": "supercomputers-rerun",
        "profile": "tabular-data-package",
        "title": "Tables of five supercomputer benchmark reports, 1982-2014",
        "description": "One CSV per printed table, as printed; see README.md for the conventions.",
        "resources": resources,
    }


def write_package() -> Path:
    """Write ``data/datapackage.json`` (atomically) and return its path."""
    content = json.dumps(package(), indent=1, ensure_ascii=False) + "\n"
    return write_text(DATA / "datapackage.json", content, overwrite=True)
