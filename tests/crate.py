"""``python tests/crate.py [FOLDER]``: the RO-Crate of a release, checked by the validator of its makers.

Builds wheel and source, writes ``ro-crate-metadata.json`` beside them as a release does, and runs PyPI's
``roc-validator`` on the folder, in an environment that uv makes for it.  The validator asks for the words of RO-Crate
1.1 at their address; they are taken from PyPI's ``rocrate``, whose last version with them is named here, so that no
site but the index of packages is needed.  A folder that is given is checked as it is.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tools import ROOT

PACKAGES = ("roc-validator==0.13.0", "rocrate==0.13.0")
#: Prints each requirement that is not met, and how many were checked.
CHECK = """
import email.message, io, sys, urllib.request, urllib.response
from importlib.resources import files

import requests, urllib3
from rocrate_validator import models, services

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
words, headers = files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes(), email.message.Message()
assert CONTEXT.encode() in words
headers["Content-Type"] = "application/ld+json"

class Kept(urllib.request.HTTPSHandler):
    def https_open(self, request):
        if request.full_url != CONTEXT:
            return super().https_open(request)
        answer = urllib.response.addinfourl(io.BytesIO(words), headers, CONTEXT, 200)
        answer.msg = "OK"
        return answer

def kept(self, request, *arguments, send=requests.adapters.HTTPAdapter.send, **options):
    if request.url != CONTEXT:
        return send(self, request, *arguments, **options)
    answer = urllib3.HTTPResponse(io.BytesIO(words), headers.items(), 200, preload_content=False)
    return self.build_response(request, answer)

urllib.request.install_opener(urllib.request.build_opener(Kept))
requests.adapters.HTTPAdapter.send = kept
asked = {"rocrate_uri": sys.argv[1], "profile_identifier": "ro-crate-1.1"}
asked |= {"requirement_severity": models.Severity[sys.argv[2]]}
found = services.validate(services.ValidationSettings.parse(asked))
issues = [f"{each.severity.name} {each.check.identifier}: {each.message}" for each in found.get_issues()]
counted = f"{len(found.executed_checks)} checks, {len(issues)} not met"
print(f"RO-Crate 1.1, {sys.argv[2].lower()}: {counted}", *issues, sep="\\n")
sys.exit(bool(issues))
"""


def checked(crate: Path, python: Path, severity: str) -> int:
    """Exit status of the validator, which prints what it found."""
    return subprocess.run([python, "-c", CHECK, crate, severity], cwd=python.parent).returncode


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        python, uv = Path(temporary, "env", "bin", "python"), [sys.executable, "-m", "uv"]
        if len(sys.argv) > 1:
            crate = Path(sys.argv[1]).resolve()
        else:
            crate = Path(temporary, "dist")
            subprocess.run([*uv, "build", "--quiet", "--out-dir", crate], cwd=ROOT, check=True)
            subprocess.run([sys.executable, "book/metadata.py", "crate", crate], cwd=ROOT, check=True)
        subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, python.parents[1]], check=True)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, *PACKAGES], check=True)
        checked(crate, python, "RECOMMENDED")  # said, and not required
        return checked(crate, python, "REQUIRED")


if __name__ == "__main__":
    sys.exit(main())
