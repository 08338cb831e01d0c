"""A team of threads that costs next to nothing to call: ``run_parts(work, threads, *arguments)``.

Each thread takes its own part of ``work``, a compiled function, by its number.  The threads are started once.  They
wait in compiled code, where no interpreter lock is needed: first watching one number in memory, then, when nothing has
come for a while, asleep in the system's condition variable.  The caller writes down what is to be done and where the
arguments lie, adds to that number, does part 0 itself and waits for the others.

    caller   ──publish──▶ part 0 ──────────────▶ wait for arrivals ──▶
    thread 1  watching ──▶ part 1 ──▶ arrived      watching …, asleep
    thread 2  watching ──▶ part 2 ──▶ arrived      watching …, asleep

Who waits watches for some microseconds, then lets others run between two looks (``sched_yield``), and then pauses for
some microseconds: beside a busy process the thread that is waited for gets the processor.  A thread that waits for
another inside its part calls :func:`meet`.

An empty call costs 0.6 µs on one thread, 2.7 µs on two, and 110 µs where the other thread sleeps (an EPYC of Zen 3, two
CPUs).  Handing work to threads of Python, which each need the interpreter lock to begin, took 50 to 80 µs, where a
whole transform of a field of T159 takes 120 µs.
"""

import ctypes
import functools
import os
import threading

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.extending import intrinsic

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import require_threads

#: Looks at a number in memory before a waiting thread yields the processor between two looks …
WATCHED = 2_000
#: … how many looks of that kind follow before it pauses or sleeps …
YIELDED = 200
#: … and how long a pause is, µs.
PAUSE = np.uint32(20)
#: Numbers, of 32 or 64 bits, that a thread has at least to read or write in a call to be worth its being called.
#: One thread's time over that of two on an EPYC of Zen 3 with two CPUs, by the numbers of both together: sorting
#: visibilities .84 at 34 000, .97 at 130 000, 1.20 at 260 000; sum of two images .86 at 49 000, 1.06 at 197 000;
#: dirty image of 64² and 128² pixels .90 and 1.01.  A call by itself costs 1 to 3 µs, which is not all of it: probably
#: because what one thread wrote lies in its core's cache when the other reads it (not measured).
WORTH_A_THREAD = 2**16

# Places in ``control``, int64: what different threads write lies on different cache lines (16 numbers: processors fetch
# lines in pairs).
_ORDER = 0  # calls so far times 2**16, plus the threads that the newest one asks for
_CALL = 1  # address of the compiled code that does a part
_GIVEN = 2  # address of its arguments
_ARRIVED = 16  # parts done by others than the caller, over all calls
_ASLEEP = 32  # threads in the condition variable
_LOCK = 48  # pthread_mutex_t, at most 64 bytes
_BELL = 64  # pthread_cond_t, at most 64 bytes
_WORDS = 96
_ONE_CALL = 2**16  # one call in ``_ORDER``; below it stands the number of threads

_yield = types.ExternalFunction("sched_yield", types.int32())
_pause = types.ExternalFunction("usleep", types.int32(types.uint32))
_lock = types.ExternalFunction("pthread_mutex_lock", types.int32(types.intp))
_unlock = types.ExternalFunction("pthread_mutex_unlock", types.int32(types.intp))
_sleep = types.ExternalFunction("pthread_cond_wait", types.int32(types.intp, types.intp))
_ring = types.ExternalFunction("pthread_cond_broadcast", types.int32(types.intp))

_INT = ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()
#: What is called: ``part(arguments, number)``.
_PART = ir.FunctionType(ir.VoidType(), [_POINTER, _INT])


# Numbers that threads share


def _address(context, builder, array_type, array, index):
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def added(typingctx, array, index, value):
    """``added(array, index, value)``: atomic addition to an int64 that threads share; the value before."""

    def codegen(context, builder, signature, args):
        place = _address(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", place, args[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def seen(typingctx, array, index):
    """``seen(array, index)``: atomic load of an int64 that threads share; what its writer wrote before is seen, too."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_address(context, builder, signature.args[0], args[0], args[1]), "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@intrinsic
def relaxed(typingctx):
    """Tells the processor that a loop waits, so that its sibling or its power benefits."""

    def codegen(context, builder, signature, args):
        if "x86" in builder.module.triple:
            pause = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, pause, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@kernel(inline=True)
def back_off(looks):
    """What one who has looked ``looks`` times in vain does before the next look."""
    if looks < WATCHED:
        relaxed()
    elif looks < WATCHED + YIELDED:
        _yield()
    else:
        _pause(PAUSE)


@kernel
def meet(counter, threads):
    """A barrier: wait until all ``threads`` have come here as often as this one; ``counter``, int64 (1,), counts
    arrivals."""
    target = (added(counter, 0, 1) // threads + 1) * threads
    looks = 0
    while seen(counter, 0) < target:
        back_off(looks)
        looks += 1


# The caller's side


@kernel(inline=True)
def part_of(count, threads, thread):
    """The part of 0 … ``count`` − 1 that belongs to a ``thread``: the first, and the end."""
    return count * thread // threads, count * (thread + 1) // threads


@intrinsic
def _published(typingctx, control, address, arguments):
    """``_published(control, address, arguments)``: writes down what a call of the compiled function at ``address`` with
    these arguments and a number is; gives the address of that note, which lives as long as the caller."""
    kinds = tuple(arguments)

    def codegen(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[2], len(kinds))
        note = ir.LiteralStructType([_INT, *(value.type for value in values)])
        place = cgutils.alloca_once(builder, note)
        for number, value in enumerate([args[1], *values]):
            builder.store(value, builder.gep(place, [ir.IntType(32)(0), ir.IntType(32)(number)]))
        part = _part(context, builder.module, note)
        for index, pointer in ((_CALL, part), (_GIVEN, place)):
            target = _address(context, builder, signature.args[0], args[0], _INT(index))
            builder.store(builder.ptrtoint(pointer, _INT), target)
        return builder.ptrtoint(place, _INT)

    return types.int64(control, types.int64, arguments), codegen


def _part(context, module, note):
    """LLVM's function that reads a ``note`` and calls what it names with the number of the part."""
    function = ir.Function(module, _PART, module.get_unique_name("part"))
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    place = builder.bitcast(function.args[0], note.as_pointer())
    first, *values = (
        builder.load(builder.gep(place, [ir.IntType(32)(0), ir.IntType(32)(number)]))
        for number in range(len(note.elements))
    )
    kind = ir.FunctionType(
        _POINTER, [*(value.type for value in values), _INT]
    )  # numba's C wrapper gives a null pointer
    builder.call(builder.inttoptr(first, kind.as_pointer()), [*values, function.args[1]])
    builder.ret_void()
    return function


@intrinsic
def _done(typingctx, call, given, number):
    """``_done(call, given, number)``: does part ``number`` of what was published."""

    def codegen(context, builder, signature, args):
        function = builder.inttoptr(args[0], _PART.as_pointer())
        builder.call(function, [builder.inttoptr(args[1], _POINTER), args[2]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@kernel
def _conduct(control, threads, address, arguments):
    """All parts of a call: others' by other threads, number 0 here."""
    given = _published(control, address, arguments)
    before = seen(control, _ARRIVED)
    # one call more, and ``threads`` in place of the number before, in one atomic step
    added(control, _ORDER, _ONE_CALL + threads - seen(control, _ORDER) % _ONE_CALL)
    # looked at after ORDER is changed, as who falls asleep looks at ORDER after changing ASLEEP: no call is missed
    if seen(control, _ASLEEP) > 0:
        lock = control[_LOCK:].ctypes.data
        _lock(lock)
        _ring(control[_BELL:].ctypes.data)
        _unlock(lock)
    _done(control[_CALL], given, 0)
    looks = 0
    while seen(control, _ARRIVED) < before + threads - 1:
        back_off(looks)
        looks += 1


# The others' side


@kernel
def _serve(control, number, last):
    """What thread ``number`` of a team does for ever; ``last`` is the order that it need not heed any more."""
    looks = 0
    while True:
        order = seen(control, _ORDER)
        if order == last:
            looks += 1
            if looks < WATCHED + YIELDED:
                back_off(looks)
                continue
            lock = control[_LOCK:].ctypes.data
            bell = control[_BELL:].ctypes.data
            _lock(lock)
            added(control, _ASLEEP, 1)
            while seen(control, _ORDER) == last:
                _sleep(bell, lock)
            added(control, _ASLEEP, -1)
            _unlock(lock)
            continue
        last = order
        looks = 0
        if number < order % _ONE_CALL:  # the caller waits for these, and keeps what it published until they are done
            _done(control[_CALL], control[_GIVEN], number)
            added(control, _ARRIVED, 1)


class Team:
    """Threads that wait for calls; ``threads`` are all but the caller's."""

    def __init__(self):
        room = np.zeros(_WORDS + 8, np.int64)
        begin = (-room.ctypes.data // 8) % 8  # the first word on a cache line
        self.control = room[begin : begin + _WORDS]
        library = ctypes.CDLL(None)
        for name, place in (("pthread_mutex_init", _LOCK), ("pthread_cond_init", _BELL)):
            getattr(library, name)(ctypes.c_void_p(self.control[place:].ctypes.data), None)
        self.threads: list[threading.Thread] = []
        self.busy = threading.Lock()  # two callers would write over each other's notes
        self.addresses: dict = {}

    def grow(self, others: int) -> None:
        """At least so many threads; they end with the process."""
        while len(self.threads) < others:
            number = len(self.threads) + 1
            arguments = self.control, number, int(self.control[_ORDER])
            thread = threading.Thread(target=_serve, args=arguments, daemon=True, name=f"team {number}")
            thread.start()
            self.threads.append(thread)

    def address(self, work, arguments: tuple) -> int:
        """Where the compiled ``work`` for arguments of these types lies."""
        key = work, compute_fingerprint(arguments)  # 0.2 µs; numba.typeof, which is public, takes longer than the call
        found = self.addresses.get(key)
        if found is None:
            kinds = (*map(numba.typeof, arguments), types.int64)
            work.compile(kinds)
            result = work.overloads[kinds]
            if result.signature.return_type != types.none:
                raise TypeError(
                    f"{work.__name__} is done in parts, and returns nothing; it gives a {result.signature.return_type}"
                )
            found = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
            self.addresses[key] = found
        return found

    def bind(self, cpus) -> None:
        """Each thread, the caller's first, to a CPU of its own (Linux)."""
        with self.busy:
            self.grow(len(cpus) - 1)
            os.sched_setaffinity(0, {cpus[0]})
            for thread, cpu in zip(self.threads, cpus[1:], strict=False):
                os.sched_setaffinity(thread.native_id, {cpu})


_standing = functools.cache(Team)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_standing.cache_clear)  # threads do not survive a fork


def run_parts(work, threads: int, *arguments) -> None:
    """``work(*arguments, 0) … work(*arguments, threads − 1)`` side by side; the caller's thread is number 0.

    ``work`` is a compiled function that returns nothing and takes its own part by the number, int64.  The threads stay
    for later calls.  ``ValueError``: more threads than usable CPUs.  With several threads what a part
    raises is written to standard error and ends that part alone, and others that wait for it in ``meet`` would wait for
    ever: so arguments are checked before.
    """
    if threads == 1:
        work(*arguments, 0)
        return
    team = _standing()
    with team.busy:
        if threads - 1 > len(team.threads):
            require_threads(threads)
            try:
                team.grow(threads - 1)
            except BaseException:  # Ctrl-C, say, between a thread's start and its place in the list
                _standing.cache_clear()  # a new team next time; the threads of this one sleep until the process ends
                raise
        _conduct(team.control, threads, team.address(work, arguments), arguments)


def worthwhile(threads: int, numbers: int, fewest: int = WORTH_A_THREAD) -> int:
    """How many of ``threads`` to call for work on so many ``numbers``: each gets ``fewest``, or one gets all."""
    return max(1, min(threads, numbers // fewest))


def bind(cpus) -> None:
    """The threads of ``run_parts``, the caller's first, each to a CPU of its own (Linux)."""
    _standing().bind(cpus)
