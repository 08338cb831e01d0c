"""``make lab``: JupyterLab for this machine's own user alone.

A Jupyter server runs whatever a request asks for.  The reader's own configuration may have switched its token
off or opened it to the network; this one then does not start.  It opens at :data:`START`, the page that lists the
chapters and says how to run them.
"""

import ipaddress
import os
import re
import sys
from pathlib import Path

from companion import schemas  # noqa: F401  before JupyterLab: as that imports jsonschema, it takes seconds
from companion.terminal import say

LOOPBACK = "--ServerApp.ip=127.0.0.1"
START = "START.md"
OPENING = f"--LabApp.default_url=/lab/tree/{START}"
#: How notebooks come and go: a notebook that is only opened is not modified.
FILES = f"--ServerApp.contents_manager_class={__package__}.lab_files.NotebookFiles"
#: Defaults that the reader's own settings outdo: pages in Markdown show as pages, and no news is fetched.
SETTINGS = Path(__file__).parent / "jupyter"


def options(arguments: list[str]) -> list[str]:
    """What the command line leaves open: the loopback address, the page that opens first, how files come and go."""
    left = {"ip": LOOPBACK, "default_url": OPENING, "contents_manager_class": FILES}
    return [option for name, option in left.items() if not any(_sets(argument, name) for argument in arguments)]


def _sets(argument: str, name: str) -> bool:
    return re.match(rf"--(\w+\.)?{name}(=|$)", argument) is not None


def refusal(ip: str, token: str, hashed_password: str = "") -> str | None:
    """Why a server at this address, with this token, must not start; None if it may."""
    try:
        inside = ip == "localhost" or ipaddress.ip_address(ip).is_loopback
    except ValueError:
        inside = False
    if not inside:
        return (
            f"JupyterLab would listen at {ip or 'every address'}, where others reach it; leave the address at "
            "127.0.0.1 and come through an SSH tunnel"
        )
    if not token and not hashed_password:
        return (
            "JupyterLab would let everybody in who reaches this machine: its token is switched off; take "
            "IdentityProvider.token out of the command and of Jupyter's configuration"
        )
    return None


def refused_to_root(arguments: list[str], user: int | None) -> str | None:
    """What to add where root, as in a container, starts JupyterLab, which does not run for root unasked; else None."""
    if user != 0 or any(_sets(argument.partition("=")[0], "allow[-_]root") for argument in arguments):
        return None
    return (
        "JupyterLab does not run as root unless it is told to; use another user, or in a container "
        "make lab ARGS='--allow-root --no-browser'"
    )


def main(arguments: list[str]) -> int:
    """Start JupyterLab with ``arguments``, or say why not and return 2."""
    if reason := refused_to_root(arguments, os.geteuid() if hasattr(os, "geteuid") else None):
        say(f"companion: {reason}", err=True)
        return 2
    from jupyterlab.labapp import LabApp

    others = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join([str(SETTINGS), *([others] if others else [])])
    server = LabApp.initialize_server([*options(arguments), *arguments])
    provider = server.identity_provider
    reason = refusal(server.ip, provider.token, getattr(provider, "hashed_password", ""))
    if reason:
        say(f"companion: {reason}", err=True)
        return 2
    server.start()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
