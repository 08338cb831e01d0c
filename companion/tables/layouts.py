"""How the rows of a printed table become labelled dimensions; the descriptor names the layout."""

from __future__ import annotations

import math

import numpy as np

from companion.late import pd, xr


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
    dataset = _labelled(frame.assign(**{parent: above}).set_index(node).to_xarray(), fields)
    dataset = dataset.assign_coords({"parent": (node, dataset[parent].values), "depth": (node, depth)})
    dataset["depth"].attrs.update(long_name="steps from the root", units="1")
    return dataset if parent == "parent" else dataset.drop_vars(parent)


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
