"""House style of every figure and table, and one module of figures per document.

``axes`` gives styled axes without pyplot's global state, ``show`` turns a figure into an inline SVG
that takes its text colour from the page (so that it reads in light and dark) and carries alternative
text and its data, ``table`` does the same for a table.
"""

from companion import extras

extras.require(*extras.DRAWING)

from companion.figures.box import answer, box, checked, folded, paragraph
from companion.figures.document import claims_summary, claims_table, document_table
from companion.figures.parts import bytes_axis, icicle, log_axis, points, stacked_bars
from companion.figures.rendering import Shown, csv_text, save, show
from companion.figures.style import INK, MEANINGS, STYLE, axes, document_style, host_style, meaning, series
from companion.figures.tabular import Table, table
