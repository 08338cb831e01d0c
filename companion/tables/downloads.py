"""The tables as a reader downloads them: CSV as committed, NetCDF with units, one zip of the packages."""

from pathlib import Path

from companion import tables
from companion.files import write_netcdf, write_text, write_zip


def write(folder: Path | str) -> list[Path]:
    """Write ``<document>/<table>.csv``, ``<document>/<table>.nc`` and ``data.zip`` under ``folder``.

    The zip has the data package of each document and that of the machines, and ``README.md``.  The folder is made where
    it is missing; every file takes its name when it is whole.  Returns the paths written. ``OSError`` when a file
    cannot be written.
    """
    members, written = ["README.md"], []
    for document in (*tables.documents(), "machines"):
        paths = [resource["path"] for resource in tables.package(document)["resources"]]
        members += [f"{document}/{path}" for path in ("datapackage.json", *paths)]
    for document in tables.documents():
        for name in tables.names(document):
            dataset, stem = tables.load(document, name), Path(folder) / document / name
            source = tables.DATA / document / f"{name}.csv"
            written += [
                write_text(stem.with_suffix(".csv"), source.read_text(encoding="utf-8"), overwrite=True),
                write_netcdf(dataset, stem.with_suffix(".nc"), overwrite=True),
            ]
    files = {member: tables.DATA / member for member in members}
    return [*written, write_zip(Path(folder) / "data.zip", "supercomputers-rerun-data", files)]
