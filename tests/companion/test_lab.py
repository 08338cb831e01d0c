"""JupyterLab starts for this machine's own user alone."""

import subprocess
import sys

import pytest

from companion.lab import refusal


@pytest.mark.parametrize("ip", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_with_a_token_may_start(ip):
    assert refusal(ip, "secret") is None
    assert refusal(ip, "", "argon2:…") is None


@pytest.mark.parametrize("ip", ["", "*", "0.0.0.0", "::", "192.168.1.2", "example", "fe80::1"])
def test_other_addresses_are_refused(ip):
    assert "SSH tunnel" in refusal(ip, "secret")


def test_no_token_is_refused():
    assert "token is switched off" in refusal("127.0.0.1", "")


@pytest.mark.parametrize(
    ("option", "word"),
    [("--ServerApp.ip=0.0.0.0", "0.0.0.0"), ("--IdentityProvider.token=", "token is switched off")],
)
def test_the_program_does_not_start(tmp_path, option, word):
    command = [sys.executable, "-m", "companion.lab", "--no-browser", "--allow-root", "--port=0", option, str(tmp_path)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=60)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("companion:")]
    assert len(said) == 1
    assert word in said[0]
