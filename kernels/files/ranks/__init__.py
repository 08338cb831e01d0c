"""Files that many ranks write, over MPI-IO: ``application``, the benchmark of NHT-1 with ``bt.ranks`` (N6)."""
