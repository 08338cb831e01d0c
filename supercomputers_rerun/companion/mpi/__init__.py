"""Experiments on many ranks: started from here, or by a batch system.

``launch(arguments, ranks)`` runs any Python program on ranks of this machine;
:func:`companion.experiments.run_record` does so with an experiment.  On a cluster
``srun python -m supercomputers_rerun.companion.mpi.job id …`` does the same inside a job.
"""

from supercomputers_rerun.companion.mpi.launcher import JobError, launch, run_record
