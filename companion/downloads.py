"""The tables as a reader downloads them: CSV as committed, NetCDF with units, one zip of the package."""

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from companion import tables

EPOCH = (1980, 1, 1, 0, 0, 0)  # the least time a zip can hold; a fixed one makes equal packages equal files


def package_zip(path: Path) -> Path:
    """Every CSV with ``datapackage.json`` and ``README.md`` in one zip, equal for equal data.

    The zip is written to a temporary name in its folder and moved.
    """
    members = ["README.md", "datapackage.json", *(each["path"] for each in tables.package()["resources"])]
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in members:
                entry = zipfile.ZipInfo(f"supercomputers-rerun-data/{member}", EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, (tables.DATA / member).read_bytes())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write(folder: Path | str) -> list[Path]:
    """Write ``<document>/<table>.csv``, ``<document>/<table>.nc`` and ``data.zip`` under ``folder``.

    The folder is made where it is missing; it is filled in a temporary place beside it and files are moved
    in one by one, so that an interrupted call leaves whole files only.  Returns the paths written.

    Raises
    ------
    TableError
        When a table is damaged.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with tempfile.TemporaryDirectory(dir=folder, prefix=".downloads-") as scratch:
        for document in tables.documents():
            (folder / document).mkdir(exist_ok=True)
            for name in tables.names(document):
                dataset = tables.load(document, name)
                for suffix in (".csv", ".nc"):
                    temporary, path = Path(scratch) / f"{name}{suffix}", folder / document / f"{name}{suffix}"
                    if suffix == ".nc":
                        dataset.to_netcdf(temporary, engine="netcdf4")
                    else:
                        shutil.copyfile(tables.DATA / document / f"{name}.csv", temporary)
                    temporary.replace(path)
                    written.append(path)
    return [*written, package_zip(folder / "data.zip")]
