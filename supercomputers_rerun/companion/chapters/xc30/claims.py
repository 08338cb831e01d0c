"""Claims of *IFS migrates from IBM to Cray* (2014) that are more than a formula."""


def installation_years(t):
    """Years of the captions, against those of the list of dates."""
    dates = {
        ("from", "ibm"): "IBM Power7, first date",
        ("to", "ibm"): "IBM Power7, last date",
        ("from", "cray"): "Cray XC30, first date",
    }
    for (fact, system), event in dates.items():
        year = t("installations").text(fact, system).split()[-1]
        yield event, year, float(t("timeline").text(event, "date")[:4])


def operational_month(t):
    """Months of two dates."""
    dates = t("timeline")
    month = float(dates.text("Cray XC30 operational", "date")[5:])
    yield "", dates.text("IBM Power7, last date", "date")[5:], month


def upgrade_year(t):
    """A date that is a year alone."""
    return float(t("timeline").text("higher resolution", "date"))


def grid_points(t):
    """The grid whose linear truncation is that of the forecast."""
    truncation = t("forecast").text("truncation")
    (points,) = [key for (key,) in t("resolutions").keys() if t("resolutions").text(key, "linear") == truncation]
    return float(points)
