"""Experiments on many ranks: started from here, or by a batch system.

``run(id, ranks=4)`` starts ``mpiexec``, follows its progress and hands back the record; on a cluster
``srun python -m companion.mpi.job id …`` does the same inside a job.  ``libraries()`` names the MPI
libraries that mpi4py can use here.
"""

from companion.mpi.launcher import JobError, Library, launch, libraries, library, run_record


def run(id: str, ranks: int | None = None, preset: str = "quick", **options):
    """Run one experiment on ``ranks`` ranks and return its record as an ``xarray.Dataset``.

    Options and errors are those of :func:`companion.experiments.run_record` and :func:`launch`.
    """
    from companion import experiments

    return experiments.run(id, preset=preset, ranks=ranks, **options)
