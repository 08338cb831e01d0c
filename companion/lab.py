"""``make lab``: JupyterLab for this machine's own user alone.

A Jupyter server runs whatever a request asks for.  The reader's own configuration may have switched its token
off or opened it to the network; this one then does not start.
"""

import ipaddress
import re
import sys

LOOPBACK = "--ServerApp.ip=127.0.0.1"


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


def main(arguments: list[str]) -> int:
    """Start JupyterLab with ``arguments``, or say why not and return 2."""
    from jupyterlab.labapp import LabApp

    given = any(re.match(r"--(\w+\.)?ip(=|$)", argument) for argument in arguments)
    server = LabApp.initialize_server([*([] if given else [LOOPBACK]), *arguments])
    provider = server.identity_provider
    reason = refusal(server.ip, provider.token, getattr(provider, "hashed_password", ""))
    if reason:
        print(f"companion: {reason}", file=sys.stderr)
        return 2
    server.start()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
