"""What is measured: numba-JIT kernels that know nothing of documents, data files, plots or notebooks.

Every piece of work is one import (``from supercomputers_rerun.kernels import bt``) and answers to the words
of :mod:`kernels.contract`: ``Problem``, ``setup``, ``run``, ``reference``, ``verify``, ``work``.
"""
