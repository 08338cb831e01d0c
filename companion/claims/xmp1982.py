"""Claims of the X-MP report: every total, ratio, rate and statement that its figures let one recompute.

A total is checked by adding its printed parts, a ratio by dividing its printed times; where two figures
print the same quantity the second is held to the first.  The parts follow the sections of the report.
"""

from companion.claims import _xmp1982_devices, _xmp1982_forecast, _xmp1982_pairs
from companion.claims._core import Ledger

ledger = Ledger("xmp1982")
for part in (_xmp1982_forecast, _xmp1982_pairs, _xmp1982_devices):
    ledger.include(part.ledger)
