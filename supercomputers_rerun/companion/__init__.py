"""What every notebook shares: tables, claims, machine, bench, experiments, runs, figures."""
