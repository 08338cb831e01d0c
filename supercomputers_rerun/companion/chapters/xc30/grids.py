"""The section *Why give the same waves a finer grid?*: one truncation on a linear, a quadratic and a cubic grid."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xc30.common import with_own
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import Output, experiment


@experiment("xc30-aliasing", item="C6", seconds={"paper": 120, "modern": 1200})
def jet(preset: str, threads: int) -> list[Case]:
    """One truncation on a linear, a quadratic and a cubic grid."""
    from supercomputers_rerun.kernels import shallow_water

    truncation, dt = {"quick": (63, 900.0), "paper": (127, 450.0), "modern": (255, 225.0)}[preset]
    cases = []
    for relation in ("linear", "quadratic", "cubic"):
        grid = shallow_water.grid_for(truncation, relation)
        problem = shallow_water.Problem(truncation, grid, "galewsky", dt=dt, hours=144.0, diffusion=48.0)
        about = {"relation": relation, "grid": grid, "truncation": truncation, "forecast_hours": problem.hours}
        cases.append(Case(f"T{truncation}, {relation} grid {grid}", shallow_water, problem, threads, about))
    return cases


@jet.outputs_of
def _maps(measurements) -> dict[str, Output]:
    """Vorticity of the northern mid-latitudes at the end, and errors of the tendency by degree, for each grid."""
    from supercomputers_rerun.kernels import shallow_water

    first = measurements[0]
    ends = {m.parameters["relation"]: m.result for m in measurements}
    found = shallow_water.compare_grids(first.problem, ends, first.threads)
    drawn = next(iter(found.values()))
    rows = (drawn.latitude > 20) & (drawn.latitude < 80)
    every = max(1, drawn.longitude.size // 256)
    # five digits of the largest are more than a map shows, and keep the record small
    vorticity = [one.vorticity[rows][::every, ::every].round(9) for one in found.values()]
    errors = [one.product_error for one in found.values()]
    meaning = "error of the vorticity tendency by degree, over the whole tendency"
    return {
        "latitude": Output(drawn.latitude[rows][::every], "degree", "row", "latitude"),
        "longitude": Output(drawn.longitude[::every], "degree", "column", "longitude"),
        "matching": Output(list(found), None, "matching_grid", "relation of grid and truncation"),
        "matching_name": Output([one.grid for one in found.values()], None, "matching_grid", "grid"),
        "vorticity": Output(vorticity, "1/s", "matching_grid row column", "relative vorticity"),
        "degree": Output(np.arange(drawn.product_error.size), "1", "wave", "degree"),
        "product_error": Output(errors, "1", "matching_grid wave", meaning),
    }


def errors(run):
    """Error of the rate of change of vorticity by degree, a column for each grid; that of the cubic one is zero."""
    frame = pd.DataFrame(run["product_error"].values.T[1:], columns=run["matching"].values.astype(str))
    return frame.assign(degree=run["degree"].values[1:])


@jet.figure
def aliasing(runs) -> "figures.Shown":
    """Vorticity of one truncation on a linear and on a cubic grid, and by degree the error of each grid's products."""
    run = runs[0]
    shown = with_own(runs)  # all machines give the same
    field = dict(zip(run["matching"].values.astype(str), 1e5 * run["vorticity"].values, strict=True))
    names = dict(zip(field, run["matching_name"].values, strict=True))
    latitude, longitude = np.meshgrid(run["latitude"], run["longitude"], indexing="ij")
    data = pd.DataFrame({"latitude [degree]": latitude.round(2).ravel(), "longitude [degree]": longitude.ravel()})
    figure, (*maps, degrees) = figures.axes(3, 1, height=5.6, height_ratios=(2, 2, 3))
    most = float(np.percentile(np.abs(run["vorticity"]), 99.5)) * 1e5
    place = {"extent": (0, 360, latitude.min(), latitude.max()), "origin": "upper", "aspect": "auto"}
    for axis, name in zip(maps, ("linear", "cubic"), strict=True):
        image = axis.imshow(field[name], cmap="RdBu_r", vmin=-most, vmax=most, interpolation="nearest", **place)
        axis.set(title=f"{name} grid {names[name]}", ylabel="latitude [°]", xticks=range(180, 361, 30), xlim=(180, 360))
        axis.grid(False)
        data[f"{name} [1e-5/s]"] = field[name].round(3).ravel()
    maps[0].tick_params(labelbottom=False)
    maps[1].set_xlabel("longitude [°]")
    bar = figure.colorbar(image, ax=list(maps), shrink=0.8)
    bar.set_label("vorticity [10⁻⁵ s⁻¹]")
    bar.outline.set_edgecolor(figures.INK)
    for each in shown:
        frame = errors(each)
        for number, name in enumerate(("linear", "quadratic")):
            error = frame[name].where(frame[name] > 0)
            style = {"label": f"{name} grid", "host": True, "index": number, "run": each}
            figures.points(degrees, frame["degree"], error, **style).set_markersize(4 if each is not run else 2.5)
    degrees.set(yscale="log", xlabel="waves around the globe (degree)", ylabel="error of the rate of\nchange, relative")
    degrees.legend()
    days = float(run["forecast_hours"].values.ravel()[-1]) / 24
    linear, quadratic = (np.sqrt(np.mean((field[name] - field["cubic"]) ** 2)) for name in ("linear", "quadratic"))
    whole = np.sqrt(np.mean(field["cubic"] ** 2))
    above = 10.0 ** np.ceil(np.log10(100 * (quadratic + 1e-4) / whole))  # maps are rounded to 1e-4
    return figures.show(
        figure,
        name="xc30_aliasing",
        runs=shown,
        data=pd.concat([data, errors(run)], axis=1),
        title=f"After {days:.0f} days the same waves differ by {100 * linear / whole:.0f} % on a linear and on a cubic "
        "grid",
        caption=f"Above, vorticity of a jet; a quadratic grid differs from the cubic by less than {above:g} %. "
        "Below, errors of the rate of change.",
    )


@conclusion(
    "xc30-c10",
    place='slide "TL1279 (16km) and TC1279 (8km) Convective precipitation"',
    says="With the same waves on a cubic grid, the forecast has different amounts of rain.",
)
def another_rain() -> Finding:
    """How much the field on a linear grid differs from that on a cubic one."""
    run = jet.runs()[0]
    field = dict(zip(run["matching"].values.astype(str), run["vorticity"].values, strict=True))
    apart = 100 * np.sqrt(np.mean((field["linear"] - field["cubic"]) ** 2) / np.mean(field["cubic"] ** 2))
    return Finding(
        UNTESTED,
        f"Our model has no rain. Its vorticity on a linear grid differs by {apart:.0f} % from that on a cubic one "
        "after six days, so the finer grid does matter. Rain takes a model with physics.",
        bears=apart > 5,
    )
