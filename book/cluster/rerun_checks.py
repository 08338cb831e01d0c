"""The experiments over MPI as checks of ReFrame: each runs one experiment and keeps its record.

reframe -c rerun_checks.py -n experiment=p5plus-exchange -S Rerun.ranks=128 -S Rerun.preset=paper -r
"""

import sys

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_after, sanity_function, variable

from supercomputers_rerun.companion.experiments import REGISTER


@rfm.simple_test
class Rerun(rfm.RunOnlyRegressionTest):
    """Runs one experiment; its record lies in ReFrame's folder ``output``."""

    experiment = parameter(sorted(entry.id for entry in REGISTER.values() if entry.ranks))
    preset = variable(str, value="quick")
    ranks = variable(int, value=0)  # 0: as many as the experiment asks for
    threads = variable(int, value=1)
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = sys.executable
    time_limit = "30m"
    keep_files = ["records"]

    @run_after("setup")
    def ask(self):
        """What the scheduler has to give, and what each rank runs."""
        self.num_tasks = self.ranks or REGISTER[self.experiment].ranks
        self.num_cpus_per_task = self.threads
        if self.current_partition.scheduler.registered_name == "local":
            self.job.launcher = getlauncher("mpiexec")()
        options = f"{self.experiment} --preset {self.preset} --threads {self.threads} --out records"
        self.executable_opts = ["-m", "supercomputers_rerun.companion.mpi.job", *options.split()]
        self.env_vars = {"OPENBLAS_NUM_THREADS": str(self.threads), "OMP_NUM_THREADS": str(self.threads)}

    @sanity_function
    def a_verified_record(self):
        """A result that fails its checks leaves no record."""
        return sn.assert_found('"record": ', self.stdout, msg="no record was written; its error stands in the output")
