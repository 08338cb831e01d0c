"""What programs over MPI are made of, and those that only send messages.

``world``          communicators, who runs where; nothing else imports mpi4py
``traffic``        messages that are counted and timed
``mesh``           who holds which rows, wavenumbers and fields, and what any number of ranks would send
``moves``          transpositions: fields change hands between grid, Fourier and spectral space

``exchange``       pairs of ranks exchange messages (P4)
``overlap``        Legendre transforms with messages in flight (C7)
``halo``           what a semi-Lagrangian scheme fetches from its neighbours (C8)
``monitoring``     what periodic sensors cost ranks that wait for each other (P8)

Work that a kernel of one process does as well is in its folder, under ``ranks``: ``bt.ranks``,
``spectral.ranks``, ``shallow_water.ranks``, ``files.ranks``.

All ranks of a problem call ``setup``, ``run`` and ``verify`` together.  A problem says how many ranks
take part (``ranks``); an MPI job may be larger, and the others then have nothing to do.  Only buffers
and JSON travel, never pickles.
"""
