"""From the object that LLVM emits for ``wasm32`` to a module: the exports, and nothing that only a linker reads.

An object of this target is a WebAssembly module already: its code is numbered as if its data began at address 0, and
what it lacks it imports, as memory and the stack pointer from ``env``.  So a kernel that came through LLVM as one
object needs no linker; its symbols say which function is which, and a section of exports is all that is added.

What a module imports: ``env.__linear_memory``, whose first bytes its data take, and ``env.__stack_pointer``, a
global i32 from which the stack grows down; anything else is refused.

Format: the WebAssembly core specification, and *WebAssembly object file linking* of its tool conventions.
"""

from collections.abc import Iterable

_MAGIC = b"\0asm\1\0\0\0"
_CUSTOM, _IMPORT, _EXPORT = 0, 2, 7
_FUNCTION, _TABLE, _MEMORY, _GLOBAL = range(4)
#: Number of the symbol table within the section "linking", and flags of a symbol.
_SYMBOLS, _UNDEFINED, _NAMED = 8, 0x10, 0x40
_GIVEN = ("__linear_memory", "__stack_pointer")


class _Reader:
    """Numbers and names, one after the other."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def __bool__(self) -> bool:
        return self.at < len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """LEB128, unsigned."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def bytes(self) -> bytes:
        count = self.number()
        self.at += count
        return self.data[self.at - count : self.at]

    def name(self) -> str:
        return self.bytes().decode()


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _counted(data: bytes) -> bytes:
    return _number(len(data)) + data


def sections(data: bytes) -> list[tuple[int, bytes]]:
    """Number and content of each section of an object or a module."""
    if data[:8] != _MAGIC:
        raise ValueError("this is no WebAssembly of version 1")
    reader, found = _Reader(data), []
    reader.at = 8
    while reader:
        found.append((reader.byte(), reader.bytes()))
    return found


def imports(content: bytes) -> list[tuple[int, str]]:
    """Kind and name of what a section of imports asks for."""
    reader, found = _Reader(content), []
    for _ in range(reader.number()):
        reader.name()
        name, kind = reader.name(), reader.byte()
        if kind == _FUNCTION:
            reader.number()
        elif kind == _GLOBAL:
            reader.at += 2
        else:
            if kind == _TABLE:
                reader.byte()
            limits = reader.byte()
            reader.number()
            if limits & 1:
                reader.number()
        found.append((kind, name))
    return found


def _functions(linking: bytes) -> dict[str, int]:
    """Number of each function that the object defines, by its symbol."""
    reader, found = _Reader(linking), {}
    reader.name(), reader.number()  # "linking", version
    while reader:
        kind, part = reader.byte(), _Reader(reader.bytes())
        if kind != _SYMBOLS:
            continue
        for _ in range(part.number()):
            kind, flags = part.byte(), part.number()
            if kind == 0:
                index = part.number()
                if not flags & _UNDEFINED:
                    found[part.name()] = index
                elif flags & _NAMED:
                    part.name()
            elif kind == 1:  # data
                part.name()
                if not flags & _UNDEFINED:
                    part.number(), part.number(), part.number()
            elif kind == 3:  # a section
                part.number()
            else:
                part.number()
                if not flags & _UNDEFINED or flags & _NAMED:
                    part.name()
    return found


def module(data: bytes, exports: Iterable[str]) -> bytes:
    """The object ``data`` as a module that exports the functions of these names.

    ``ValueError`` if the object imports anything but memory and stack pointer, or does not define an export.
    """
    kept, functions = [], {}
    for kind, content in sections(data):
        if kind == _CUSTOM:
            if _Reader(content).name() == "linking":
                functions = _functions(content)
            continue
        if kind == _IMPORT:
            needed = [name for _, name in imports(content) if name not in _GIVEN]
            if needed:
                raise ValueError(f"a module has no {', '.join(needed)}; a kernel for WebAssembly must do without")
        kept.append((kind, content))
    exports = list(exports)
    if missing := [name for name in exports if name not in functions]:
        raise ValueError(f"the object does not define {', '.join(missing)}")
    entries = [_counted(name.encode()) + bytes([_FUNCTION]) + _number(functions[name]) for name in exports]
    place = next(number for number, (kind, _) in enumerate(kept) if kind > _EXPORT)
    kept.insert(place, (_EXPORT, _number(len(entries)) + b"".join(entries)))
    return _MAGIC + b"".join(bytes([kind]) + _counted(content) for kind, content in kept)
