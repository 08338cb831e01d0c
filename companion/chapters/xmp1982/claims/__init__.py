"""Claims of the X-MP report: every total, ratio, rate and statement that its figures let one recompute.

A total is checked by adding its printed parts, a ratio by dividing its printed times; where two figures
print the same quantity the second is held to the first.  The parts follow the sections of the report.
"""

from companion.chapters.xmp1982.claims import devices, forecast, pairs
from companion.claims.engine import Ledger

ledger = Ledger("xmp1982")
for part in (forecast, pairs, devices):
    ledger.include(part.ledger)
