"""The listings of README and of the kernels' README, for tests that run them here and from an installed wheel."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README, KERNELS = ROOT / "README.md", ROOT / "kernels" / "README.md"


def blocks(language: str, path: Path = README) -> list[str]:
    """Blocks of a language in a file, without those that are a session at the prompt."""
    return re.findall(rf"```{language}\n(?!>>>)(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def timeless(text: str) -> str:
    """A text without its milliseconds, which differ from run to run."""
    return re.sub(r"[\d.]+ ms", "ms", text)
