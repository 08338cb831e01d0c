"""Kernels as functions of addresses and numbers, with all that a program in another language needs to run them.

A reader's browser has no Python, so what ``setup``, ``run`` and ``verify`` do around the compiled code is here
compiled, too, or described as data: a :class:`case.Case` lists arrays, numbers and calls, answers and their
tolerances, and the work of a repeat.  The words are those of ``kernels.contract``:

==========  =======================================================================================
``problem``  the fields of the kernel's own ``Problem``
``prepare``  calls that fill the arrays
``run``      the call that is timed; its last argument is the number of repeats
``verify``   a call that writes numbers into ``answers``, each with what is expected and how close
``work``     operations and bytes of one repeat, from the kernel's own ``work``
==========  =======================================================================================

The compiled functions are those of the kernels themselves; ``kernels.runtime.wasm`` makes WebAssembly of them.
"""
