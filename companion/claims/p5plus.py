"""Claims of *Performance of P5+ at ECMWF* (2006); the parts follow its slides."""

from companion.claims import _p5plus_blades, _p5plus_nodes, _p5plus_routines, _p5plus_runs
from companion.claims._core import Ledger

ledger = Ledger("p5plus")
for part in (_p5plus_nodes, _p5plus_runs, _p5plus_routines, _p5plus_blades):
    ledger.include(part.ledger)
