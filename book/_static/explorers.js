/* Figures that a reader can steer.  Their data stand in the page; the library in plot/ is loaded when one of them comes
   into sight.  On paper, and where no script runs, the picture in their place stays. */
"use strict";
(() => {
  const here = typeof document !== "undefined" && document.currentScript ? document.currentScript.src.replace(/[^/]*$/, "") : "";

  /* ---- the memory banks of kernels/memory/banks/plain.py, cycle by cycle ---- */

  /* jobs: [{strides: [a, b, c] (null where a port is not used), starts, vector, overhead, latency, strips}] */
  function simulate(memory, jobs, cycles) {
    const freeAt = new Array(memory.banks).fill(0);
    const cpus = jobs.map((job) => ({
      job, old: 0, chained: 0, ready: null, begun: false, strips: job.strips, end: null,
      ports: job.starts.map((address) => ({ address, stride: 0, left: 0, granted: 0 })),
    }));
    const grants = [], waits = [];
    let t = 0;

    function begin(cpu) {
      const [a, b, c] = cpu.ports;
      if (a.left || b.left || cpu.old) return;
      if (cpu.ready === null) {
        if (!cpu.strips) {
          if (!c.left) cpu.end = t;
          return;
        }
        cpu.strips -= 1;
        cpu.ready = t + cpu.job.overhead;
      }
      if (t < cpu.ready) return;
      cpu.ready = null;
      cpu.old = c.left;
      cpu.ports.forEach((port, number) => {
        const stride = cpu.job.strides[number];
        port.left = stride === null ? 0 : cpu.job.vector;
        port.stride = stride || 0;
      });
      cpu.chained = t + cpu.job.latency;
    }

    function wants(cpu, number) {
      const [a, b, c] = cpu.ports;
      if (number < 2) return cpu.ports[number].left > 0;
      return cpu.old > 0 || (t >= cpu.chained && c.left > Math.max(a.left, b.left));
    }

    function ask(who, cpu, taken) {
      const sections = new Array(memory.sections).fill(0);
      cpu.ports.forEach((port, number) => {
        if (!wants(cpu, number)) return;
        const bank = port.address % memory.banks, section = bank % memory.sections;
        if (freeAt[bank] > t) waits.push([t, who, number, taken.has(bank) ? 1 : 0]);
        else if (sections[section] >= memory.lines) waits.push([t, who, number, 2]);
        else {
          taken.add(bank);
          sections[section] += 1;
          freeAt[bank] = t + memory.busy;
          port.address += port.stride;
          port.granted += 1;
          if (number === 2 && cpu.old) cpu.old -= 1; else port.left -= 1;
          grants.push([t, who, number, bank]);
        }
      });
    }

    for (; t < cycles; t += 1) {
      const taken = new Set();
      cpus.forEach((cpu, who) => {
        if (cpu.end !== null) return;
        begin(cpu);
        if (cpu.end === null) ask(who, cpu, taken);
      });
    }
    return { grants, waits, ends: cpus.map((cpu) => cpu.end) };
  }

  if (typeof module !== "undefined") { module.exports = { simulate }; return; }  // for tests, without a page

  /* ---- controls ---- */

  let count = 0;
  function element(tag, attributes = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  /* A row of labelled controls; `changed` is told their values. */
  function controls(into, described, changed) {
    const form = element("form", { class: "rerun-steer" }), inputs = {};
    for (const [name, one] of Object.entries(described)) {
      const id = `steer-${(count += 1)}`;
      let input;
      if (one.options) {
        input = element("select", { id });
        for (const [value, text] of one.options) input.append(element("option", { value }, String(text)));
        input.value = one.value;
      } else {
        input = element("input", { id, type: "range", min: one.min, max: one.max, step: one.step || 1, value: one.value });
      }
      const shown = one.options ? "" : element("output", { for: id });
      form.append(element("span", {}, element("label", { for: id }, one.label), " ", input, " ", shown));
      inputs[name] = { input, shown, text: one.text || String };
    }
    const values = () => {
      const found = {};
      for (const [name, { input, shown, text }] of Object.entries(inputs)) {
        found[name] = input.value;
        if (shown) {
          shown.textContent = text(input.value);
          input.setAttribute("aria-valuetext", shown.textContent);
        }
      }
      return found;
    };
    form.addEventListener("input", () => changed(values()));
    form.addEventListener("submit", (event) => event.preventDefault());
    into.append(form);
    return { form, inputs, values };
  }

  /* Where the drawing goes, and the sentence under it that is read out when it changes. */
  function stage(into) {
    const picture = element("div", { class: "rerun-stage" });
    const said = element("p", { class: "rerun-said", "aria-live": "polite" });
    into.append(picture, said);
    return {
      width: () => Math.max(300, Math.min(920, into.clientWidth)),
      /* A plot with links inside is a group: what is inside a picture cannot be reached. */
      draw(plot, sentence, role = "img") {
        const drawn = plot.matches("svg") ? plot : plot.querySelector("svg:last-of-type");
        plot.querySelectorAll("svg").forEach((svg) => svg.setAttribute("aria-hidden", "true"));
        drawn.removeAttribute("aria-hidden");
        drawn.setAttribute("role", role);
        drawn.setAttribute("aria-label", sentence);
        if (role === "group") plot.querySelectorAll("g[aria-label]").forEach((mark) => mark.removeAttribute("aria-label"));
        picture.replaceChildren(plot);
        said.textContent = sentence;
      },
    };
  }

  const swatches = (names, colours) => element("p", { class: "rerun-legend" }, ...names.map((name, n) =>
    element("span", {}, element("i", { style: `background: ${colours[n]}` }), ` ${name}`)));

  const KINDS = {};

  /* ---- the clock of 1982 ---- */

  KINDS.clock = (into, data) => {
    const day = (chosen) => data.days.find((one) => one.device === chosen.device && String(one.files) === chosen.files
      && one.driver === chosen.driver && String(one.cpus) === chosen.cpus);
    const unique = (list) => [...new Set(list)];
    let now = Infinity, running = 0, steering;

    /* Options that the model does not know for the device are switched off, and the choice moves to one it knows. */
    function settle() {
      const chosen = steering.values();
      const of = data.days.filter((one) => one.device === chosen.device);
      const allowed = { files: unique(of.map((one) => String(one.files))) };
      if (!allowed.files.includes(chosen.files)) chosen.files = steering.inputs.files.input.value = allowed.files[0];
      allowed.driver = unique(of.filter((one) => String(one.files) === chosen.files).map((one) => one.driver));
      if (!allowed.driver.includes(chosen.driver)) {
        chosen.driver = steering.inputs.driver.input.value = allowed.driver[0];
      }
      for (const name of ["files", "driver"]) {
        for (const option of steering.inputs[name].input.options) option.disabled = !allowed[name].includes(option.value);
      }
      return chosen;
    }

    function draw() {
      const chosen = settle(), one = day(chosen);
      const end = Math.max(...one.segments.map((segment) => segment[2]));
      const cut = one.segments.filter((segment) => segment[1] < now).map(([cpu, begin, till, part]) =>
        ({ cpu: `CPU ${cpu + 1}`, begin, till: Math.min(till, now), part: data.parts[part], whole: till - begin }));
      const longest = Math.max(...data.days.map((each) => Math.max(...each.segments.map((segment) => segment[2]))));
      const marks = [
        Plot.barX(cut, { x1: "begin", x2: "till", y: "cpu", fill: "part", insetTop: 3, insetBottom: 3,
          stroke: "var(--pst-color-background)", strokeWidth: 0.6 }),
        Plot.tip(cut, Plot.pointer({ x1: "begin", x2: "till", y: "cpu", maxRadius: 60,
          title: (d) => `${d.part}: ${Math.round(d.whole)} s` })),
        Plot.ruleX([Math.min(now, end)], { strokeWidth: 1.5 }),
      ];
      if (one.printed) {
        marks.push(Plot.ruleX([one.printed], { strokeDasharray: "4 3" }), Plot.text([one.printed], { x: (d) => d,
          frameAnchor: "top", text: (d) => `printed: ${d} s`, dy: -12, textAnchor: one.printed > 0.8 * longest ? "end" : "middle" }));
      }
      const plot = Plot.plot({ width: show.width(), height: 110 + 42 * Number(chosen.cpus), marginLeft: 52, marginTop: 34,
        marginBottom: 40, x: { domain: [0, longest], label: "seconds from the start →", grid: true },
        y: { domain: one.cpus === 2 ? ["CPU 1", "CPU 2"] : ["CPU 1"], label: null },
        color: { domain: data.parts, range: data.partColours }, marks });
      const over = one.printed ? ` The report printed ${one.printed} s.` : " The report did not run this one.";
      const until = now < end ? `After ${Math.round(now)} s of ${Math.round(end)} s` : `The day ends after ${Math.round(end)} s`;
      const what = one.cpus === 2 ? "two forecasts and all their jobs, on two CPUs" : "a forecast and its jobs, on one CPU";
      show.draw(plot, `${until}, modelled: ${one.name}; ${what}.${over}`);
    }

    steering = controls(into, {
      device: { label: "work files on", options: Object.entries(data.devices), value: "ssd" },
      files: { label: "files", options: unique(data.days.map((one) => one.files)).sort((a, b) => a - b).map((n) => [n, n]), value: 2 },
      driver: { label: "driver", options: Object.entries(data.drivers), value: "sync" },
      cpus: { label: "CPUs", options: [[1, 1], [2, 2]], value: 1 },
    }, () => { stop(); now = Infinity; draw(); });
    const button = element("button", { type: "button" }, "run the day");
    steering.form.append(button);
    function stop() { cancelAnimationFrame(running); running = 0; }
    button.addEventListener("click", () => {
      stop();
      const end = Math.max(...day(settle()).segments.map((segment) => segment[2]));
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) { now = Infinity; draw(); return; }
      const started = performance.now(), lasts = 5000;
      const step = (time) => {
        now = end * (time - started) / lasts;
        if (now >= end) { now = Infinity; draw(); return; }
        draw();
        running = requestAnimationFrame(step);
      };
      running = requestAnimationFrame(step);
    });
    into.append(swatches(data.parts, data.partColours));
    const show = stage(into);
    return draw;
  };

  /* ---- banks over time ---- */

  KINDS.banks = (into, data) => {
    let steering;
    const jobs = (chosen) => Array.from({ length: Number(chosen.cpus) }, (_, cpu) => {
      const stride = Number(chosen.stride);
      return chosen.program === "stream"
        ? { strides: [stride, null, null], starts: [cpu * Number(chosen.apart), 0, 0], vector: 2 ** 40, overhead: 0, latency: 0, strips: 1 }
        : { strides: [stride, stride, stride], starts: data.starts.map((start) => start + cpu * Number(chosen.apart)), ...data.loop, strips: 2 ** 30 };
    });
    const memory = (banks) => ({ banks: Number(banks), busy: data.busy, sections: data.sections, lines: data.lines });

    function draw() {
      const chosen = steering.values(), list = jobs(chosen), banks = Number(chosen.banks);
      const { grants, waits } = simulate(memory(banks), list, data.cycles);
      const long = simulate(memory(banks), list, 40 * data.cycles).grants.length / (40 * data.cycles);
      const held = grants.map(([t, cpu, port, bank]) => ({ t, till: Math.min(t + data.busy, data.cycles), bank, cpu, port: "ABC"[port] }));
      const rows = list.map((_, cpu) => banks + 1.5 + 3.5 * cpu);
      const counts = new Map();
      for (const [t, cpu] of waits) counts.set(`${t} ${cpu}`, (counts.get(`${t} ${cpu}`) || 0) + 1);
      const waiting = [...counts].map(([key, number]) => {
        const [t, cpu] = key.split(" ").map(Number);
        return { t, cpu, low: rows[cpu], high: rows[cpu] + 0.9 * number };
      });
      const every = banks > 16 ? banks / 8 : banks > 8 ? 4 : 1;
      const ticks = [...Array.from({ length: Math.ceil(banks / every) }, (_, n) => n * every), ...rows.map((row) => row + 1)];
      const plot = Plot.plot({
        width: show.width(), height: Math.min(560, 90 + 12 * (banks + 3.5 * list.length)), marginLeft: 92, marginBottom: 38,
        x: { domain: [0, data.cycles], label: "clock period →" },
        y: { domain: [-0.7, rows[rows.length - 1] + 3], ticks, tickSize: 0, label: null,
          tickFormat: (d) => (d >= banks ? `CPU ${rows.findIndex((row) => row + 1 === d)} waits` : d + every < banks ? String(d) : `bank ${d}`) },
        color: { type: "ordinal", domain: list.map((_, cpu) => cpu), range: data.series },
        marks: [
          Plot.rect(held, { x1: "t", x2: "till", y1: (d) => d.bank - 0.42, y2: (d) => d.bank + 0.42, fill: "cpu" }),
          Plot.rect(waiting, { x1: "t", x2: (d) => d.t + 1, y1: "low", y2: "high", fill: "cpu", fillOpacity: 0.6 }),
          Plot.tip(held, Plot.pointer({ x: "t", y: "bank", maxRadius: 30,
            title: (d) => `bank ${d.bank}, CPU ${d.cpu}, port ${d.port}: from clock period ${d.t}` })),
        ],
      });
      const kinds = data.waits.map((name, number) => [name, waits.filter((wait) => wait[3] === number).length]);
      const lost = kinds.filter((kind) => kind[1]).map(([name, number]) => `${number} ${WAITED[name]}`).join(", ");
      const most = list.length * (chosen.program === "stream" ? 1 : 3);
      show.draw(plot, `Simulated: ${long.toFixed(2)} words a clock period in the long run, at most ${most} without waits. `
        + `Stride ${chosen.stride}, ${banks} banks, ${list.length} CPU${list.length > 1 ? "s" : ""}; in the ${data.cycles} clock periods shown, `
        + (lost ? `ports waited: ${lost}.` : "no port waited."));
    }
    const WAITED = { busy: "clock periods for a busy bank", simultaneous: "for a bank that another port had just taken", section: "for the line to a section" };
    const usual = data.start;
    steering = controls(into, {
      program: { label: "each CPU", options: [["loop", "adds vectors: two loads, one store"], ["stream", "loads one endless vector"]], value: "loop" },
      stride: { label: "stride", min: 1, max: 64, value: usual.stride, text: (value) => `${value} word${value > 1 ? "s" : ""}` },
      banks: { label: "banks", options: [[8, 8], [16, 16], [32, 32], [64, 64]], value: usual.banks },
      cpus: { label: "CPUs", options: [[1, 1], [2, 2], [4, 4]], value: usual.cpus },
      apart: { label: "CPUs start", min: 0, max: 16, value: 0, text: (value) => `${value} words apart` },
    }, draw);
    const show = stage(into);
    return draw;
  };

  /* ---- the surface of bandwidths ---- */

  KINDS.surface = (into, data) => {
    let steering;
    const sizes = [...new Set(data.cells.map((cell) => cell[0]))].sort((a, b) => a - b);
    const strides = [...new Set(data.cells.map((cell) => cell[1]))].sort((a, b) => a - b);
    const bytes = (n) => (n >= 2 ** 30 ? `${n / 2 ** 30} GB` : n >= 2 ** 20 ? `${n / 2 ** 20} MB` : `${n / 2 ** 10} KB`);
    const rate = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

    function draw() {
      const chosen = steering.values(), along = chosen.along === "size";
      const kept = data.cells.filter((cell) => data.kinds[cell[2]] === chosen.kind)
        .map(([size, stride, , value, low, high, flag]) => ({ size, stride, value, low, high, flag }));
      const fixed = along ? strides[chosen.place % strides.length] : sizes[Math.min(chosen.place, sizes.length - 1)];
      const line = kept.filter((cell) => (along ? cell.stride : cell.size) === fixed);
      const width = show.width(), every = Math.ceil(sizes.length / (width / 46)), some = sizes.filter((_, n) => n % every === 0);
      const scale = { type: "log", scheme: "viridis", label: "GB/s", legend: true, domain: data.range };
      const title = (d) => `${bytes(d.size)}, stride ${d.stride}: ${rate(d.value)} GB/s`;
      const surface = Plot.plot({
        width, height: 60 + 22 * strides.length, marginLeft: 52, marginBottom: 58, color: scale,
        x: { type: "band", domain: sizes, label: "working set of a thread", ticks: some, tickFormat: bytes, tickRotate: -50, padding: 0.02 },
        y: { type: "band", domain: strides, label: "stride, items of 4 bytes", tickFormat: String, padding: 0.04 },
        marks: [Plot.cell(kept, { x: "size", y: "stride", fill: "value" }),
          Plot.cell(line, { x: "size", y: "stride", fill: "none", stroke: "currentColor", strokeWidth: 1.5 }),
          Plot.tip(kept, Plot.pointer({ x: "size", y: "stride", title }))],
      });
      const section = Plot.plot({
        width, height: 230, marginLeft: 52, marginBottom: along ? 58 : 40,
        x: { type: "point", domain: along ? sizes : strides, label: along ? "working set of a thread" : "stride, items of 4 bytes",
          ticks: along ? some : strides, tickFormat: along ? bytes : String, tickRotate: along ? -50 : 0 },
        y: { type: "log", domain: data.range, grid: true, label: "GB/s", tickFormat: (d) => `${d}` },
        marks: [Plot.ruleX(line, { x: along ? "size" : "stride", y1: "low", y2: "high", stroke: data.colours.measured }),
          Plot.lineY(line, { x: along ? "size" : "stride", y: "value", stroke: data.colours.measured }),
          Plot.dot(line, { x: along ? "size" : "stride", y: "value", fill: data.colours.measured }),
          Plot.dot(line.filter((cell) => cell.flag), { x: along ? "size" : "stride", y: "value", symbol: "times", r: 5, stroke: "currentColor" }),
          Plot.tip(line, Plot.pointerX({ x: along ? "size" : "stride", y: "value", title }))],
      });
      const values = line.map((cell) => cell.value);
      show.draw(element("div", {}, surface, section), `${data.machine}, ${chosen.kind}; `
        + (along ? `stride ${fixed}` : `working set of ${bytes(fixed)}`)
        + `: ${rate(Math.min(...values))} to ${rate(Math.max(...values))} GB/s asked for.`);
    }
    const place = () => {
      const along = steering.inputs.along.input.value === "size";
      steering.inputs.place.input.max = (along ? strides : sizes).length - 1;
    };
    steering = controls(into, {
      kind: { label: "measured with", options: data.kinds.map((kind) => [kind, kind]), value: data.kinds[0] },
      along: { label: "cut along", options: [["size", "the working set"], ["stride", "the stride"]], value: "size" },
      place: { label: "at", min: 0, max: strides.length - 1, value: 0, text: (value) => (steering && steering.inputs.along.input.value !== "size"
        ? bytes(sizes[Math.min(value, sizes.length - 1)]) : `stride ${strides[Math.min(value, strides.length - 1)]}`) },
    }, () => { place(); draw(); });
    const show = stage(into);
    return draw;
  };

  /* ---- the ledger ---- */

  KINDS.ledger = (into, data) => {
    const claims = data.claims.map(([document, verdict, departure, row]) => ({ verdict, departure, row,
      place: document + (((row * 7919) % 23) - 11) / 36 }));
    const table = document.querySelector("#ledger table");
    let steering;
    const form = document.getElementById("ledger-filter");

    function draw() {
      const chosen = steering.values();
      const rows = table ? table.tBodies[0].rows : [];
      const kept = claims.filter((claim) => (!rows[claim.row] || !rows[claim.row].hidden)
        && (chosen.width === "all" || Math.abs(claim.departure) <= Number(chosen.width)));
      const limit = chosen.width === "all" ? Math.max(1, ...kept.map((claim) => Math.abs(claim.departure))) : Number(chosen.width);
      const plot = Plot.plot({
        width: show.width(), height: 330, marginLeft: 118, marginBottom: 42,
        x: { domain: [-limit, limit], type: chosen.width === "all" ? "symlog" : "linear", constant: 0.01, grid: true,
          label: "recomputed over printed, less 1, in % →", tickFormat: (d) => `${+(100 * d).toPrecision(3)}`, ticks: chosen.width === "all" ? [-1, -0.1, -0.01, 0, 0.01, 0.1, 1].filter((d) => Math.abs(d) <= limit) : 7 },
        y: { domain: [data.documents.length - 0.5, -0.5], ticks: data.documents.map((_, n) => n), tickFormat: (n) => data.documents[n], label: null },
        symbol: { domain: data.verdicts, range: ["circle", "square", "triangle", "diamond", "star", "cross"].slice(0, data.verdicts.length) },
        color: { domain: data.verdicts, range: data.verdictColours },
        marks: [Plot.ruleX([0]),
          Plot.dot(kept, { x: "departure", y: "place", stroke: "verdict", symbol: "verdict", r: 3.2 }),
          Plot.tip(kept, Plot.pointer({ x: "departure", y: "place", title: (d) => `${d.verdict}: `
            + (rows[d.row] ? rows[d.row].cells[2].firstChild.textContent : "") }))],
      });
      plot.style.cursor = "pointer";
      plot.addEventListener("click", () => { if (plot.value && rows[plot.value.row]) rows[plot.value.row].scrollIntoView({ block: "center" }); });
      const wrong = kept.filter((claim) => claim.verdict === "contradicts").length;
      show.draw(plot, `${kept.length} claims with a number are drawn, ${wrong} of them contradicted. The filter below the figure chooses among them; a click leads to the row.`);
    }
    steering = controls(into, {
      width: { label: "departures", options: [["0.02", "up to 2 %"], ["0.1", "up to 10 %"], ["all", "all"]], value: "all" },
    }, draw);
    const show = stage(into);
    if (form) for (const event of ["input", "reset"]) form.addEventListener(event, () => setTimeout(draw, 150));
    into.append(swatches(data.verdicts, data.verdictColours));
    return draw;
  };

  /* ---- every quantity of the reports, by year or against another ---- */

  KINDS.quantities = (into, data) => {
    const every = Object.fromEntries(data.quantities.map((one) => [one.key, { ...one, points: data.points[one.key].map(
      (row) => Object.fromEntries(data.columns.map((name, n) => [name, row[n]]))) }]));
    const number = (value) => (value >= 1000 ? value.toFixed(0) : String(+value.toPrecision(3)));
    const least = { "": "", "<": "below ", ">": "above " };
    const words = (point, quantity) => `${point.what}, ${least[point.bound]}${number(point.value)} ${quantity.unit}`;
    const ofReport = (point, chosen) => chosen.of === "all"
      || (chosen.of === "now" ? point.kind === "run" : point.kind === "report" && String(point.year) === chosen.of);

    /* The points of one quantity by year, or of two quantities where one machine has both. */
    function chosenPoints(chosen) {
      const up = every[chosen.y], along = every[chosen.x];
      const kept = up.points.filter((point) => ofReport(point, chosen));
      if (!along) return kept.map((point) => ({ ...point, x: point.year, y: point.value, title: `${point.machine} (${point.year}): ${words(point, up)}` }));
      return kept.flatMap((point) => along.points.filter((other) => other.machine === point.machine && other.kind === point.kind)
        .map((other) => ({ ...point, x: other.value, y: point.value,
          title: `${point.machine} (${point.year}): ${words(point, up)}; ${words(other, along)}` })));
    }

    /* Each label is a link, moved up or down to the nearest place where it meets no other. */
    function label(plot, points, byYear, width) {
      const x = plot.scale("x"), y = plot.scale("y"), name = "http://www.w3.org/2000/svg";
      const placed = points.map((point) => ({ point, left: x.apply(point.x), top: y.apply(point.y) })).sort((a, b) => a.top - b.top);
      const taken = [], highest = y.range[1], lowest = y.range[0] + 12;
      for (const one of placed) {
        const right = byYear ? one.point.x < 2000 && one.point.x > 1985 : one.left < width / 2;
        const link = document.createElementNS(name, "a"), text = document.createElementNS(name, "text");
        link.setAttribute("href", one.point.source);
        text.setAttribute("x", one.left + (right ? 9 : -9));
        text.setAttribute("text-anchor", right ? "start" : "end");
        text.textContent = byYear ? `${one.point.machine}, ${one.point.what}` : one.point.machine;
        link.append(text);
        plot.append(link);
        const long = text.getComputedTextLength(), from = one.left + (right ? 9 : -9 - long);
        const free = (top) => top >= highest - 12 && top <= lowest
          && taken.every((other) => Math.abs(other.top - top) >= 13 || other.from > from + long + 6 || from > other.to + 6);
        const steps = Array.from({ length: 80 }, (_, n) => one.top + (n % 2 ? -1 : 1) * 6.5 * Math.ceil(n / 2));
        const top = steps.find(free) ?? one.top;
        text.setAttribute("y", top + 4);
        taken.push({ top, from, to: from + long });
      }
    }

    function draw() {
      const chosen = steering.values();
      if (chosen.x === chosen.y) chosen.x = steering.inputs.x.input.value = "year";
      const up = every[chosen.y], along = every[chosen.x], points = chosenPoints(chosen), width = show.width();
      const labelled = width >= 560 && points.length <= 20, margin = labelled && !along ? 230 : 30;
      const scale = (one) => ({ type: one.log ? "log" : "linear", nice: true, grid: true, zero: !one.log, ticks: 6,
        tickFormat: (d) => String(+d.toPrecision(3)) });
      const kinds = ["report", "run"].map((kind) => points.filter((point) => point.kind === kind));
      const far = points.filter((point) => point.bound), most = Math.max(...points.map((point) => point.y));
      const end = ({ bound, y }) => (up.log ? (bound === ">" ? 1.5 * y : y / 1.5)
        : Math.min(up.unit.startsWith("%") ? 100 : Infinity, Math.max(0, y + (bound === ">" ? 0.07 : -0.07) * most)));
      const plot = Plot.plot({
        width, height: 340, marginLeft: 64, marginBottom: 42, marginTop: 30, insetLeft: margin - 10, insetRight: 40,
        x: along ? { ...scale(along), label: `${along.name} [${along.unit}] →` }
          : { domain: [1980, 2028], tickFormat: (d) => String(d), ticks: 6, label: "year →" },
        y: { ...scale(up), label: `↑ ${up.name} [${up.unit}]` },
        marks: [
          Plot.arrow(far, { x: "x", y1: "y", y2: end, stroke: data.colours.printed, strokeWidth: 1.4 }),
          Plot.ruleX(kinds[1], { x: "x", y1: "low", y2: "high", stroke: data.colours.measured, strokeWidth: 1.6 }),
          Plot.dot(kinds[0], { x: "x", y: "y", symbol: "square", r: 5,
            stroke: data.colours.printed, strokeWidth: 1.6, ...(labelled ? {} : { href: "source" }) }),
          Plot.dot(kinds[1], { x: "x", y: "y", r: 5, fill: data.colours.measured,
            ...(labelled ? {} : { href: "source" }) }),
          Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: "title", maxRadius: 40 })),
        ],
      });
      if (!labelled) plot.querySelectorAll('g[aria-label="dot"]').forEach((group, n) => group.querySelectorAll("a").forEach((link) =>
        link.setAttribute("aria-label", kinds[n][link.firstElementChild.__data__].title)));
      const machines = new Set(points.map((point) => point.machine)).size;
      into.closest("figure").dataset.shows = [...new Set(points.map((point) => point.source.split("#")[1]).filter(Boolean))].join(" ") || " ";
      const by = along ? `${along.name}` : "year";
      const title = `${up.name[0].toUpperCase()}${up.name.slice(1)} by ${by}`;
      show.draw(plot, points.length ? `${title}: ${points.length} point${points.length > 1 ? "s" : ""} of `
        + `${machines} machine${machines > 1 ? "s" : ""}. Hollow: printed in a report; filled: measured for this book; an arrow marks a bound. `
        + `Each ${labelled ? "label" : "mark"} leads to the table or record that holds the number.`
        : "No machine of this choice has both numbers.", "group");
      if (labelled) label(plot, points, !along, width);
      if (heading) heading.textContent = `${title}.`;
      if (rest) rest.textContent = chosen.y === names[0][0] && !along && chosen.of === "all" ? usual : " ";
    }

    /* The caption is that of the picture on paper: its words hold for the first choice alone. */
    const heading = into.closest("figure").querySelector("figcaption strong"), rest = heading && heading.nextSibling;
    const usual = rest && rest.textContent;
    const names = data.quantities.map((one) => [one.key, one.name]);
    const asked = /^#axes=([\w-]+),([\w-]+),(\w+)$/.exec(location.hash), at = asked ? asked.slice(1) : [];
    const known = (value, list, usual) => (list.some(([key]) => key === value) ? value : usual);
    const across = [["year", "year"], ...names];
    const whose = [["all", "all, and today"], ...Object.entries(data.reports).map(([year, title]) => [year, `${year}: ${title}`]), ["now", "measured today"]];
    const steering = controls(into, {
      y: { label: "upwards", options: names, value: known(at[0], names, names[0][0]) },
      x: { label: "to the right", options: across, value: known(at[1], across, "year") },
      of: { label: "of", options: whose, value: known(at[2], whose, "all") },
    }, () => {
      draw();
      const { y, x, of } = steering.values();
      history.replaceState(null, "", `#axes=${y},${x},${of}`);
    });
    const show = stage(into);
    if (asked) into.scrollIntoView();
    return draw;
  };

  /* ---- loading ---- */

  let loading = null;
  const script = (name) => new Promise((done, failed) => {
    const tag = element("script", { src: `${here}plot/${name}` });
    tag.onload = done;
    tag.onerror = () => failed(new Error(name));
    document.head.append(tag);
  });
  const library = () => (loading = loading || script("d3.min.js").then(() => script("plot.umd.min.js")));

  function begin(box) {
    const figure = box.querySelector("figure.rerun-figure"), still = figure && figure.querySelector("svg");
    const make = KINDS[box.dataset.kind];
    if (!still || !make) return;
    library().then(() => {
      const data = JSON.parse(box.querySelector('script[type="application/json"]').textContent);
      const live = element("div", { class: "rerun-live" });
      figure.insertBefore(live, still);
      const draw = make(live, data);
      draw();
      box.classList.add("is-live");
      let width = live.clientWidth;
      new ResizeObserver(() => { if (Math.abs(live.clientWidth - width) > 8) { width = live.clientWidth; draw(); } }).observe(live);
    }).catch(() => { /* the picture stays */ });
  }

  const near = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) { near.unobserve(one.target); begin(one.target); }
  }, { rootMargin: "400px" });
  document.querySelectorAll(".rerun-explorer").forEach((box) => near.observe(box));
})();
