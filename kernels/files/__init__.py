"""Files: what a program pays for putting its results on disk.

``application``   NHT-1 Application I/O Benchmark: the block-tridiagonal solver writing its solution; ``ranks`` over MPI
``conversion``    a dump in the words of another machine; ``words`` has the formats
``nodes``         many processes writing the solution of one solver, a limited number at a time
``storm``         output steps with and without the small files that every task opens
``devices``       large blocks written and read
``messages``      lines appended to a message file
``calls``         what a write, a seek, an open with read and close, and a new page of memory cost

and what these are made of:

``format.layout``        the solution file: header, dumps, trailer; reading it plane by plane; rates of the benchmark
``format.verification``  the separate program that reads a solution file and checks it
``ways``                 one writing session of a solution file, and the ways of writing it
``processes``            processes that write together or load the file system meanwhile
``syscalls``             loops of small system calls
``filesystem``           files of records, and getting a file out of the page cache
``work_folder``          a folder for the files of one measurement
"""
