/* The page “This device”: buttons, progress, results as tables, and a record to save. */
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
  const longer = button(`Measure longer (${device.LONG / 60} minutes)`);
  const stop = button("Stop"), save = button("Save as a record"), forget = button("Forget the results");
  const progress = element("progress", { max: "1", value: "0", "aria-label": "progress of the measurement" });
  const said = element("p", { role: "status", class: "rerun-said" }), found = element("div");
  const form = element("form", { class: "rerun-steer" });
  form.append(measure, longer, stop, save, forget);
  box.replaceChildren(form, progress, said, found);
  let wasLonger = false;

  function ready(running) {
    [measure, longer].forEach((each) => { each.disabled = running; });
    stop.disabled = !running;
    progress.hidden = !running;
    [save, forget].forEach((each) => { each.disabled = running || !Object.keys(device.results).length; });
  }

  const TITLES = { stride: "Sum over a working set", latency: "Time of a dependent load",
                   loop: "Loops of 2006", bt: "BT, the flow solver of 1993" };

  function table(title, results) {
    const frame = element("div", { class: "rerun-table", tabindex: "0", role: "region", "aria-label": title });
    const made = element("table", { class: "rerun-data" }), head = element("tr"), body = element("tbody");
    const { unit } = device.shown(results[0]);
    ["what", `median [${unit}]`, "95 % interval", "best", "samples"].forEach((name) => head.append(element("th", { scope: "col" }, name)));
    for (const result of results) {
      const { median, best, ends } = device.shown(result), row = element("tr");
      const interval = ends ? ends.map((each) => each.toPrecision(3)).join(" to ") : "too few samples";
      [result.label, median.toPrecision(3), interval, best.toPrecision(3), `${result.samples.length} of ${result.repeats} repeats`]
        .forEach((text, n) => row.append(element(n ? "td" : "th", n ? {} : { scope: "row" }, text)));
      body.append(row);
    }
    const top = element("thead");
    top.append(head);
    made.append(top, body);
    frame.append(element("p", { class: "rerun-caption" }, title), made);
    return frame;
  }

  function show() {
    const groups = new Map();
    Object.values(device.results).forEach((result) => {
      const kind = result.name.replace(/-.*/, "");
      groups.set(kind, [...(groups.get(kind) || []), result]);
    });
    found.replaceChildren(...[...groups].map(([kind, results]) => table(TITLES[kind] || kind, results)));
    const list = Object.values(device.results);
    if (list.length) {
      const tick = Math.max(...list.map((each) => each.tick)), checks = list.reduce((sum, each) => sum + each.before.length + each.after.length, 0);
      const clock = tick < 1e-5 ? `${(1e6 * tick).toPrecision(2)} µs` : `${(1e3 * tick).toPrecision(2)} ms`;
      const threads = self.crossOriginIsolated ? "" : " This page may not share memory between threads (its server would have to ask the browser to isolate it), so that one thread was measured.";
      found.prepend(element("p", {}, `All ${checks} answers were right, before and after the timing. The clock of this browser moves in steps of ${clock}; each sample lasts at least forty of them.${threads}`));
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
      const { results, left } = await device.measure({ budget: seconds, threads: self.crossOriginIsolated, tell });
      device.results = results;
      said.textContent = ["Measured and verified.", ...left].join(" ");
      device.keep();
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
