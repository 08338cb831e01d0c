"""The tables as a reader downloads them: CSV as committed, NetCDF with units, one zip of the package."""

from pathlib import Path

from companion import tables
from companion.files import write_netcdf, write_text, write_zip


def package_zip(path: Path) -> Path:
    """Every CSV with ``datapackage.json`` and ``README.md`` in one zip, equal for equal data."""
    members = ["README.md", "datapackage.json", *(each["path"] for each in tables.package()["resources"])]
    return write_zip(path, "supercomputers-rerun-data", {member: tables.DATA / member for member in members})


def write(folder: Path | str) -> list[Path]:
    """Write ``<document>/<table>.csv``, ``<document>/<table>.nc`` and ``data.zip`` under ``folder``.

    The folder is made where it is missing; every file takes its name when it is whole.  Returns the paths written.
    ``TableError`` when a table is damaged. ``OSError`` when a file cannot be written.
    """
    written = []
    for document in tables.documents():
        for name in tables.names(document):
            dataset, stem = tables.load(document, name), Path(folder) / document / name
            source = tables.DATA / document / f"{name}.csv"
            written += [
                write_text(stem.with_suffix(".csv"), source.read_text(encoding="utf-8"), overwrite=True),
                write_netcdf(dataset, stem.with_suffix(".nc"), overwrite=True),
            ]
    return [*written, package_zip(Path(folder) / "data.zip")]
