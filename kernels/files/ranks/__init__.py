"""Files that many ranks write, over MPI-IO.

``application``   NHT-1 Application I/O: ``bt.ranks`` writing its solution (N6)
``shared``        one writing session of a solution file, by all ranks
"""
