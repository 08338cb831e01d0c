"""Claims of *Performance of P5+ at ECMWF* (2006); the parts follow its slides."""

from companion.chapters.p5plus.claims import blades, nodes, routines, runs
from companion.claims.engine import Ledger

ledger = Ledger("p5plus")
for part in (nodes, runs, routines, blades):
    ledger.include(part.ledger)
