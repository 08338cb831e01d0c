"""numba's dispatcher, which makes wrappers for Python only of what Python calls.

numba gives each compiled function two wrappers, one for Python and one for C, and LLVM optimises them with the
function and again with each of its callers.  Most functions here are called by compiled code alone.
"""

from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature


def bare(result) -> bool:
    """Whether a compile result has no wrapper for Python, so that only compiled code can call it."""
    return not result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name)


class Dispatcher(CPUDispatcher):
    """Compiles without wrappers what a compiled caller asks for, and with them, anew where need be, the rest."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._asked = self._bare = False
        self._compiler._customize_flags = self._flags

    @classmethod
    def _compilation_chain_init_hook(cls):
        """numba looks here for extensions among all packages that are installed.  Kernels need none of them, and a
        function of the reader's own looks for them itself."""

    def _flags(self, flags):
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = self._bare
        return flags

    @global_compiler_lock
    def get_call_template(self, args, kws):
        """What compiled callers ask for the types of a call."""
        self._asked = True
        try:
            return super().get_call_template(args, kws)
        finally:
            self._asked = False

    def get_compile_result(self, sig):
        """Of a function whose address is taken, which is its wrapper's for C."""
        self._forget(sig)
        return super().get_compile_result(sig)

    @global_compiler_lock
    def compile(self, sig):
        outer, now, self._asked = self._bare, self._asked, False
        if not now:
            self._forget(sig)
        self._bare = self._cache.bare = now
        try:
            return super().compile(sig)
        finally:
            self._bare = self._cache.bare = outer
            if not now and hasattr(self._cache, "release"):  # a function without a cache has no lock
                self._cache.release()

    def _forget(self, sig):
        """Let an overload without wrappers be none; who calls it already keeps it."""
        args = tuple(normalize_signature(sig)[0])
        if args in self.overloads and bare(self.overloads[args]):
            del self.overloads[args]

    def add_overload(self, result):
        if bare(result):
            self.overloads[tuple(result.signature.args)] = result
        else:
            super().add_overload(result)
