"""Kernels prove themselves before they are timed, once in a process: a small problem, compared with the reference.

What ``verify`` says of a large result is what can be said of it quickly.  The small problem is compared number by
number, with one thread and with two, so that an error of compiled code on a processor that nobody had tried is found
before a time is reported.  How, a kernel says itself (``PROOF``, see ``kernels/contract.py``).
"""

from typing import Any

from companion.bench.sampling import UnverifiedError

#: By kernel and small problem: the check that failed, as text; empty where none did.
_PROVEN: dict[Any, str] = {}


def require_proof(label: str, kernel: Any, problem: Any) -> None:
    """Let a kernel show that it computes here what its reference computes, if it says how.

    Raises
    ------
    UnverifiedError
        If it does not.
    """
    proof = getattr(kernel, "PROOF", None)
    if proof is None:
        return
    small = proof.problem(problem)
    if (kernel, small) not in _PROVEN:
        failed = [str(check) for check in proof.checks(kernel, small) if not check.ok]
        _PROVEN[kernel, small] = failed[0] if failed else ""
    if reason := _PROVEN[kernel, small]:
        raise UnverifiedError(
            f"{label}: a small problem came out otherwise than its reference here, {reason}; nothing of it is timed"
        )
