"""A file that has its name when it is complete."""

import os
import secrets
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path, new: bool = False, fsync: bool = True):
    """A name beside ``path`` to write to; the file takes the name ``path`` when the block ends and goes when it fails.

    With ``new`` it replaces nothing: ``FileExistsError`` if ``path`` exists.  With ``fsync`` the device has the
    file before it gets its name.  An ``OSError`` names ``path``, not the temporary.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        if fsync:
            with open(part, "rb") as file:
                os.fsync(file.fileno())
        if not new:
            os.replace(part, path)
            return
        try:
            os.link(part, path)  # which takes no name of another's, also where somebody is about to
        except FileExistsError:
            taken = f"{path} exists and is never replaced silently; choose another name or folder"
            raise FileExistsError(taken) from None
        except OSError:  # a filesystem without links
            with open(path, "xb"):
                os.replace(part, path)
    except OSError as error:
        if error.filename not in (None, part, str(part)) or not error.strerror:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)
