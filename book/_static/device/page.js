/* The page “This device”: buttons, progress, the result in a sentence, tables below the figure, and a record to save. */
"use strict";
(() => {
  const box = document.getElementById("rerun-device"), device = window.rerunDevice;
  if (!box) return;
  const element = (name, attributes = {}, text = "") => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.textContent = text;
    return made;
  };
  const button = (text) => element("button", { type: "button" }, text);
  const measure = button(`Measure this device (${device.SHORT} seconds)`);
  const longer = button("Measure longer (a minute)");
  const stop = button("Stop"), save = button("Save as a record"), forget = button("Forget the results");
  const progress = element("progress", { max: "1", value: "0", "aria-label": "progress of the measurement" });
  const said = element("p", { role: "status", class: "rerun-said" }), result = element("div");
  const printed = JSON.parse(box.dataset.printed || "{}");  // by case: what a report prints of the same, and of what
  const tables = document.getElementById("rerun-device-tables") || element("div");
  const form = element("form", { class: "rerun-steer" });
  form.append(measure, longer, stop, save, forget);
  box.replaceChildren(form, progress, result, said);
  let wasLonger = false;

  function ready(running) {
    [measure, longer].forEach((each) => { each.disabled = running; });
    stop.disabled = !running;
    progress.hidden = !running;
    [save, forget].forEach((each) => { each.disabled = running || !Object.keys(device.results).length; });
  }

  const TITLES = { stride: "Sum over a working set", loop: "Loops of 2006", bt: "BT, the flow solver",
                   forecast: "The small forecast" };
  const three = (value) => String(Number(value.toPrecision(3)));
  const between = ({ ends, unit }) => `${ends.map(three).join(" to ")} ${unit}`;

  function table(title, results) {
    const frame = element("div", { class: "rerun-table", tabindex: "0", role: "region", "aria-label": title });
    const made = element("table", { class: "rerun-data" }), head = element("tr"), body = element("tbody");
    const { unit } = device.shown(results[0]);
    ["what", `median [${unit}]`, "95 % interval", "best", "samples"].forEach((name) => head.append(element("th", { scope: "col" }, name)));
    for (const each of results) {
      const { median, best, ends } = device.shown(each), row = element("tr");
      const interval = each.summary.interval ? ends.map(three).join(" to ") : "too few samples";
      [each.label, three(median), interval, three(best), `${each.samples.length} of ${each.repeats} repeats`]
        .forEach((text, n) => row.append(element(n ? "td" : "th", n ? {} : { scope: "row" }, text)));
      body.append(row);
    }
    const top = element("thead");
    top.append(head);
    made.append(top, body);
    frame.append(element("p", { class: "rerun-caption" }, title), made);
    return frame;
  }

  /* The result in a sentence, of what was measured. */
  function sentence() {
    const found = ["forecast-63", "bt-W", "loop-s10"].map((name) => device.results[name] && device.shown(device.results[name]));
    const [day, solver, sums] = found, two = (value) => Number(value.toPrecision(2)), { "loop-s10": [old, whose] = [] } = printed;
    return [
      day && `A day of the small forecast took ${two(day.seconds)} s here`,
      solver && `BT, the flow solver, computes ${two(solver.median)} GFLOPS in class W`,
      sums && `the loop of ten sums reaches ${two(sums.median)} GFLOPS${old ? `, ${two(sums.median / old)} times one ${whose} processor’s share of the rate printed in 2006` : ""}`,
    ].filter(Boolean).join("; ").replace(/^./, (letter) => letter.toUpperCase());
  }

  function warning(list) {
    const shown = list.map((each) => [each.label, device.shown(each)]).filter(([, each]) => each.doubtful);
    if (!shown.length) return [];
    const [label, worst] = shown.reduce((one, other) => other[1].scatter > one[1].scatter ? other : one);
    return [element("p", { class: "rerun-warning" }, `Doubtful: in ${shown.length} of ${list.length} cases the interval, or the range of fewer than six samples, is wider than a quarter of the median, the widest for “${label}” (${between(worst)}). Other programs or a changing clock rate can do this. Close what you can and measure again.`)];
  }

  function show() {
    const groups = new Map(), list = Object.values(device.results);
    list.forEach((each) => {
      const kind = each.name.replace(/-.*/, "");
      groups.set(kind, [...(groups.get(kind) || []), each]);
    });
    const folded = element("details", { class: "rerun-fold" });
    folded.append(element("summary", {}, "All numbers of this device"), ...[...groups].map(([kind, results]) => table(TITLES[kind], results)));
    tables.replaceChildren(...(list.length ? [folded] : []));
    const first = sentence();
    result.replaceChildren(...(first ? [element("p", { class: "rerun-result" }, `${first}.`)] : []), ...warning(list));
    if (list.length) {
      const tick = Math.max(...list.map((each) => each.tick)), checks = list.reduce((sum, each) => sum + each.before.length + each.after.length, 0);
      const least = Math.floor(Math.min(...list.map((each) => each.summary.least * each.repeats / each.tick))), clock = tick < 1e-5 ? `${(1e6 * tick).toPrecision(2)} µs` : `${(1e3 * tick).toPrecision(2)} ms`;
      tables.prepend(element("p", {}, `All ${checks} answers were right, before and after the timing. The clock of this browser moves in steps of ${clock}; the shortest sample lasted ${least} of them.`));
    }
    ready(false);
  }

  async function run(seconds) {
    wasLonger = seconds > device.SHORT;
    ready(true);
    try {
      const tell = ({ progress: part, doing }) => {
        progress.value = part;
        if (said.textContent !== doing) said.textContent = doing;  // which a screen reader says once
      };
      const { results, left } = await device.measure({ budget: seconds, tell });
      device.results = results;
      device.keep();
      said.textContent = ["Measured and verified. Stars in the figures below are this device.", ...left].join(" ");
    } catch (error) {
      said.textContent = error.message;
    }
    ready(false);
  }

  measure.addEventListener("click", () => run(device.SHORT));
  longer.addEventListener("click", () => run(device.LONG));
  stop.addEventListener("click", () => device.stop());
  forget.addEventListener("click", () => device.forget());
  save.addEventListener("click", async () => {
    const record = await device.record(device.results, wasLonger);
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(record, null, 1)}\n`], { type: "application/json" }));
    const link = element("a", { href: address, download: `device_${record.preset}_t1_${record.date.replace(/[-:]/g, "")}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  document.addEventListener("rerun-device", show);
  show();
})();
