"""numba's library of compiled code, which LLVM optimises and makes machine code of when its address is asked.

numba does both for every function that it compiles, and again for each of its callers, into which it is linked.  A
function that compiled code alone calls is never run by itself: here it stays text of LLVM, as the cache keeps it, until
one that Python calls is compiled with all that it calls.  This takes a third off the time of compiling, and loops are
vectorised once, where they are inlined.
"""

from operator import attrgetter

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen

_name = attrgetter("name")
_set_env = JITCPUCodegen.set_env
#: Environments of functions without machine code, by the name of the variable that is to hold the address.
_waiting = {}


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
        """Make machine code, and tell the engine which environments its functions have."""
        self._text_alone, self._dynamic_globals = False, []
        super()._optimize_final_module()
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name in _waiting and not variable.is_declaration:
                _set_env(self._codegen, variable.name, _waiting.pop(variable.name))

    def get_pointer_to_function(self, name):
        """Address of ``name``, 0 where this library has none of that name."""
        self._ensure_finalized()
        if self._text_alone:
            # the body of a prange is linked into its loop, though it has wrappers
            if self.name.startswith("__numba_parfor_gufunc") or name not in map(_name, self.get_defined_functions()):
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


JITCPUCodegen.set_env = _set_env_when_made
