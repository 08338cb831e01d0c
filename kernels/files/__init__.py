"""Files: what a program pays for putting its results on disk.

``application``   NHT-1 Application I/O Benchmark: the block-tridiagonal solver writing its solution
``storm``         output steps with and without the small files that every task opens
``nodes``         many processes writing the solution of one solver, a limited number at a time
``groups``        the processes of ``nodes``, and rows of boxes in a file
``ranks``         the benchmark and the groups over MPI-IO

and what these are made of:

``formulas``      elapsed time, transfer rate R_IO and overhead zeta of NHT-1
``layout``        the solution file: header, dumps, trailer; reading it plane by plane
``ways``          the ways of writing it; ``netcdf`` the same through its library
``solution``      one writing session: checks, temporary name, double buffer, read-back, rename
``verification``  the separate program that reads a solution file and checks it
``work_folder``   a folder for the files of one measurement
``disturber``     other processes that load the file system meanwhile; ``processes`` starts and ends them
``syscalls``      loops of small system calls
``filesystem``    what kind of filesystem a folder is on, and getting a file out of the page cache

A file that lives in memory (tmpfs) is not on a disk, and a write that ended in the page cache has
not reached one: results carry ``filesystem.describe`` and say how the data went.
"""
