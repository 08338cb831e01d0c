"""Claims of AIPS Memo 58 that are more than a formula."""


def mean_of_whole_seconds(reader):
    """The nearest mean of ``n`` whole seconds: ``round(n t) / n``."""
    for size in ("small", "medium", "large"):
        sheet = reader(f"ddt_{size}")
        for (problem,) in sheet.keys():
            executions = sheet[problem, "executions"].mid
            for system in ("nrao1", "clsc", "psc"):
                column = f"{system}_real"
                mean = round(sheet[problem, column].mid * executions) / executions
                yield f"{size} {problem} {system.upper()}", sheet.text(problem, column), mean


def processors_of_model(reader):
    """The first digit of the model number: X-MP/24 has two processors."""
    sheet = reader("systems")
    for system in ("CLSC", "PSC"):
        model = sheet.text(system, "machine").rpartition("/")[2]
        yield system, sheet.text(system, "processors"), int(model[0])
