"""How the command lines of this project end: what a user can cause is one sentence, and the status says what it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from companion import extras


def stop(program: str, message: object, code: int = 2) -> NoReturn:
    """End with one sentence on standard error."""
    typer.echo(f"{program}: {' '.join(str(message).split())}", err=True)
    raise SystemExit(code)


@contextmanager
def one_sentence(program: str) -> Iterator[None]:
    """Turn what a user can cause into one sentence; a defect keeps its traceback.

    The status is 1 where a library is missing, 2 for a request that cannot be met, 3 for a failed verification.
    """
    try:
        yield
    except BrokenPipeError:  # whoever read the output has seen enough
        raise
    except (ValueError, OSError, MemoryError) as error:
        stop(program, str(error) or "memory ran out; choose a smaller preset")
    except ImportError as error:
        reason = str(error) if "supercomputers-rerun[" in str(error) else extras.sentence(error.name)
        if reason is None:
            raise
        stop(program, reason, 1)
    except RuntimeError as error:
        from companion.bench import UnverifiedError
        from companion.experiments import Unavailable
        from companion.mpi import JobError

        known = isinstance(error, (UnverifiedError, Unavailable, JobError))
        if not known and str(error) != "can't start new thread":  # of Python, where the system allows no more
            raise
        if isinstance(error, JobError) and error.output:
            typer.echo(error.output, err=True)
        stop(program, error, 3 if isinstance(error, UnverifiedError) else 2)
