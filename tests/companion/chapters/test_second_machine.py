"""A record of a second machine, older or newer, changes no number of the first one's."""

import json

from supercomputers_rerun.companion.records import runs

EXPERIMENT, SECOND = "p5plus-latency", "Slowpoke 1000"


def test_the_first_machine_stays_the_first_whichever_run_is_newer(tmp_path):
    record = runs.read(max(runs.COMMITTED.glob(f"{EXPERIMENT}_*.json")))
    second = json.loads(json.dumps(record))
    second["machine"]["cpu"]["model"] = SECOND
    for each in (record, record | {"experiment": "another"}):  # the first machine measured more
        runs.save(each, tmp_path)
    for date in ("2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"):
        dated = second | {"date": date}
        path = runs.save(dated, tmp_path)
        kept, replaced = runs.each(EXPERIMENT, tmp_path)
        assert kept.identical(runs.latest(EXPERIMENT, tmp_path))
        assert SECOND in replaced.attrs["label"] and SECOND not in kept.attrs["label"]
        for run, of in ((kept, record), (replaced, dated)):
            assert run.identical(runs.dataset(of, tmp_path).assign_attrs(file=runs.file_name(of)))
        path.unlink()
