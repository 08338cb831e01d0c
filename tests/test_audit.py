"""What the audit of the lock makes of each answer of pip-audit: good news only where somebody answered."""

import json

import audit
import pytest

BAD = {"name": "x", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1", "2.0"]}]}
UNMENDED = {"name": "y", "version": "3.0", "vulns": [{"id": "PYSEC-2", "fix_versions": []}]}
GOOD = {"name": "z", "version": "2.0", "vulns": []}
SKIPPED = {"name": "w", "skip_reason": "Dependency not found on PyPI and could not be audited: w (1.0)"}


def answers(*found):
    texts = [one if isinstance(one, str) else json.dumps({"dependencies": one, "fixes": []}) for one in found]

    def ask(requirements, *options):
        assert requirements.exists()
        return texts.pop(0)

    return ask


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        (([BAD], [GOOD, GOOD]), 0, ["2 packages of the lock checked, 0 vulnerabilities known"]),
        (([BAD], [GOOD, BAD, UNMENDED]), 3, ["x 1.0: PYSEC-1, mended in 1.1, 2.0", "mended in no release yet"]),
        (([BAD], [GOOD, SKIPPED]), 0, ["w: the index does not know it", "1 packages of the lock checked"]),
        (([SKIPPED],), 1, [audit.SILENT]),
        (([GOOD],), 1, [audit.SILENT]),
        (("",), 1, [audit.SILENT]),
        (([BAD], "Traceback"), 1, [audit.SILENT]),
    ],
)
def test_an_answer_becomes_a_code_and_sentences(tmp_path, found, code, words):
    lock = tmp_path / "lock"
    lock.write_text("z==2.0\n")
    given, lines = audit.audit(lock, answers(*found))
    assert given == code
    assert all(any(word in line for line in lines) for word in words)


def test_no_line_names_a_host():
    assert "://" not in audit.SILENT
