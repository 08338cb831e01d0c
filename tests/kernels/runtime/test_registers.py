"""Which registers a processor has, by its name and features, without that processor."""

import pytest

from supercomputers_rerun.kernels.runtime.jit import registers


@pytest.mark.parametrize(
    "target, features, expected",
    [
        ("x86_64-unknown-linux-gnu", "+sse2,+avx,+avx2,+fma,+avx512f", (8, 24, False)),
        ("x86_64-apple-darwin", "+avx,+fma,-avx512f", (4, 12, False)),
        ("x86_64-pc-windows-msvc", "+sse2,-avx,-avx512f", (2, 12, False)),
        ("x86_64-unknown-linux-gnu", "", (2, 12, False)),
        ("aarch64-unknown-linux-gnu", "+neon,+sve", (2, 24, True)),
        ("arm64-apple-darwin24.1.0", "+neon", (2, 24, True)),
        ("powerpc64le-unknown-linux-gnu", "+vsx", (2, 12, False)),
    ],
)
def test_registers_are_the_architectures(target, features, expected):
    found = registers(target, features)
    assert (found.lanes, found.chains, found.sums) == expected
