"""Programs of many processes over MPI, with the words of every kernel.

``exchange``       pairs of ranks exchange messages (P4)
``transposition``  fields change hands between grid, Fourier and spectral space (P4, C5)
``transform``      the distributed spectral transform; ``overlap`` the same with messages in flight (C7)
``shallow_water``  the spectral model on many ranks, timed by compute, communication, barrier, serial (C3)
``halo``           what a semi-Lagrangian scheme fetches from its neighbours (C8)
``bt``             the block-tridiagonal solver on a grid of ranks, ``application`` its I/O benchmark (N1, N6)
``groups``         write groups over MPI-IO (N7)
``monitoring``     what periodic sensors cost ranks that wait for each other (P8)
``scale``          bytes and messages of these patterns for any number of ranks, without running them

and what these are made of: ``world`` (communicators, who runs where), ``traffic`` (messages that are
counted and timed), ``mesh`` (who holds which rows, wavenumbers and fields), ``files`` (the solution file
of NHT-1 through MPI-IO).

All ranks of a problem call ``setup``, ``run`` and ``verify`` together.  A problem says how many ranks
take part (``ranks``); an MPI job may be larger, and the others then have nothing to do.  Only buffers
and JSON travel, never pickles.
"""
