"""How kernels change numba's compiler, and what that buys.

numba gives each compiled function two wrappers, one for Python and one for C, and makes machine code of every function
and again of each of its callers, into which it is linked.  Most functions here are called by compiled code alone.
:class:`Dispatcher` makes wrappers for what Python calls, and :class:`Library` keeps the rest as LLVM's text, as the
cache does, until a function that Python calls is compiled with all that it calls.  Loops are then vectorised once,
where they are inlined.

Seconds of processor to compile with an empty cache: BT of class S 5.4 for 7.2 without these two, eight fields of T159
27 for 56.  numba's ``no_cpython_wrapper`` and ``no_cfunc_wrapper`` give the first (5.2), not the second (47).
"""

from contextlib import nullcontext

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

_set_env = JITCPUCodegen.set_env
#: Environments of functions without machine code, by the name of the variable that is to hold the address.
_waiting = {}


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
            with nullcontext() if now or not hasattr(self._cache, "held") else self._cache.held():
                return super().compile(sig)
        finally:
            self._bare = self._cache.bare = outer

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


class Library(JITCodeLibrary):
    """What is linked when it is finalised, and becomes machine code when somebody asks for an address in it."""

    _text_alone = False  # whether there is no machine code (yet)

    def _optimize_final_module(self):
        """When there is machine code to make."""

    def _finalize_final_module(self):
        if self._object_caching_enabled and self._compiled_object:  # machine code from the cache
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = self._text_alone = True

    def _make(self):
        """Make machine code, and tell the engine which environments its functions have.

        The engine itself would call Python back with the code: an exception of Ctrl-C is dropped there.
        """
        super()._optimize_final_module()
        self.enable_object_caching()
        self._compiled_object = made = self._codegen._tm.emit_object(self._final_module)
        self._dynamic_globals = []
        super()._finalize_final_module()
        self._compiled_object, self._text_alone = made, False
        for variable in self._final_module.global_variables:
            if variable.name in _waiting and not variable.is_declaration:
                _set_env(self._codegen, variable.name, _waiting.pop(variable.name))

    def get_pointer_to_function(self, name):
        """Address of ``name``, 0 where this library has none of that name."""
        self._ensure_finalized()
        if self._text_alone:
            if name not in (function.name for function in self.get_defined_functions()):
                return 0
            self._make()
        return super().get_pointer_to_function(name)

    def _get_compiled_object(self):
        return b"" if self._text_alone else super()._get_compiled_object()

    @classmethod
    def _unserialize(cls, codegen, state):
        name, kind, data = state
        if kind != "object" or data[0]:
            return super()._unserialize(codegen, state)
        self = codegen.create_library(name)
        self._shared_module = binding.parse_bitcode(data[1])
        self._finalized = self._disable_inspection = True
        return self


def _set_env_when_made(codegen, name, env):
    """Tell a function its environment ``env``, now or when a library that holds its variable ``name`` is made."""
    if codegen._engine.is_symbol_defined(name):
        _set_env(codegen, name, env)
    else:
        _waiting[name] = env


JITCPUCodegen._library_class = Library
JITCPUCodegen.set_env = _set_env_when_made
