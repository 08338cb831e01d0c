/* Two figures that a reader can steer: the clock of 1982, and the memory banks.  Their data stand in the page.  On
   paper, and where no script runs, the picture in their place stays. */
"use strict";
(() => {
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

  /* ---- controls and drawing ---- */

  let count = 0;
  function filled(made, attributes = {}, ...inside) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }
  const element = (tag, ...rest) => filled(document.createElement(tag), ...rest);
  const shape = (tag, ...rest) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), ...rest);

  /* A row of labelled controls; `changed` is called when one of them is moved. */
  function controls(into, described, changed) {
    const form = element("form", { class: "rerun-steer" }), inputs = {};
    for (const [name, one] of Object.entries(described)) {
      const id = `steer-${(count += 1)}`;
      const input = one.options ? element("select", { id }) : element("input", { id, type: "range", min: one.min, max: one.max });
      for (const [value, text] of one.options || []) input.append(element("option", { value }, String(text)));
      input.value = one.value;
      const shown = one.options ? "" : element("output", { for: id });
      form.append(element("span", {}, element("label", { for: id }, one.label), " ", input, " ", shown));
      inputs[name] = { input, shown, text: one.text };
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
    form.addEventListener("input", changed);
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
      draw(plot, sentence) {
        plot.setAttribute("role", "img");
        plot.setAttribute("aria-label", sentence);
        picture.replaceChildren(plot);
        said.textContent = sentence;
      },
    };
  }

  /* An empty drawing of this size whose horizontal axis goes from 0 to `end`, and the place of a value on it. */
  function frame(width, height, left, end, label) {
    const top = 24, bottom = height - 40, right = width - 12;
    const plot = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, fill: "currentColor" });
    const x = (value) => left + (right - left) * value / end;
    const step = [1, 2, 5].flatMap((n) => [n, 10 * n, 100 * n, 1000 * n]).sort((a, b) => a - b).find((n) => end / n <= (right - left) / 70);
    for (let value = 0; value <= end; value += step) {
      plot.append(shape("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, stroke: "currentColor", "stroke-opacity": 0.15 }));
      plot.append(shape("text", { x: x(value), y: bottom + 15, "text-anchor": "middle" }, String(value)));
    }
    plot.append(shape("text", { x: right, y: bottom + 32, "text-anchor": "end" }, label));
    return { plot, x, top, bottom };
  }

  /* A box of a model or a simulation: pale, with a dashed edge, so that none looks measured. */
  const box = (x, y, width, height, colour, said) => shape("rect", { x, y, width: Math.max(0, width), height, fill: colour,
    "fill-opacity": 0.3, stroke: colour, "stroke-dasharray": "3 1.5" }, shape("title", {}, said));

  const swatches = (names, colours) => element("p", { class: "rerun-legend" }, ...names.map((name, n) =>
    element("span", {}, element("i", { style: `background: ${colours[n]}` }), ` ${name}`)));

  const KINDS = {};

  /* ---- the clock of 1982 ---- */

  KINDS.clock = (into, data) => {
    const day = (chosen) => data.days.find((one) => one.device === chosen.device && String(one.files) === chosen.files
      && one.driver === chosen.driver);
    const unique = (list) => [...new Set(list)];
    const ends = (one) => one.segments.at(-1)[1];
    const longest = Math.max(...data.days.map(ends));
    let now = Infinity, running = 0;

    /* Options that the model does not know for the device are switched off, and the choice moves to one it knows. */
    function settle() {
      const chosen = steering.values();
      const of = data.days.filter((one) => one.device === chosen.device);
      const allowed = { files: unique(of.map((one) => String(one.files))) };
      if (!allowed.files.includes(chosen.files)) chosen.files = steering.inputs.files.input.value = allowed.files[0];
      allowed.driver = unique(of.filter((one) => String(one.files) === chosen.files).map((one) => one.driver));
      if (!allowed.driver.includes(chosen.driver)) chosen.driver = steering.inputs.driver.input.value = allowed.driver[0];
      for (const name of ["files", "driver"]) {
        for (const option of steering.inputs[name].input.options) option.disabled = !allowed[name].includes(option.value);
      }
      return chosen;
    }

    function draw() {
      const one = day(settle()), end = ends(one);
      const { plot, x, top, bottom } = frame(show.width(), 116, 12, longest, "seconds from the start →");
      for (const [begin, till, part] of one.segments.filter((segment) => segment[0] < now)) {
        plot.append(box(x(begin), top + 5, x(Math.min(till, now)) - x(begin), 32, data.partColours[part],
          `${data.parts[part]}: ${Math.round(till - begin)} s`));
      }
      const rule = (value, more) => shape("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, stroke: "currentColor", ...more });
      plot.append(rule(Math.min(now, end), { "stroke-width": 1.5 }));
      if (one.printed) {
        const anchor = one.printed > 0.8 * longest ? "end" : "middle";
        plot.append(rule(one.printed, { "stroke-dasharray": "4 3" }));
        plot.append(shape("text", { x: x(one.printed), y: top - 8, "text-anchor": anchor }, `printed: ${one.printed} s`));
      }
      const over = one.printed ? ` The report printed ${one.printed} s.` : " The report prints no time of this one.";
      const until = now < end ? `After ${Math.round(now)} s of ${Math.round(end)} s` : `The day ends after ${Math.round(end)} s`;
      show.draw(plot, `${until}, modelled: ${one.name}.${over}`);
    }

    function stop() { cancelAnimationFrame(running); now = Infinity; draw(); }
    const steering = controls(into, {
      device: { label: "work files on", options: Object.entries(data.devices), value: "ssd" },
      files: { label: "files", options: unique(data.days.map((one) => one.files)).sort((a, b) => a - b).map((n) => [n, n]), value: 2 },
      driver: { label: "driver", options: Object.entries(data.drivers), value: "sync" },
    }, stop);
    const button = element("button", { type: "button" }, "run the day");
    button.addEventListener("click", () => {
      stop();
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      const end = ends(day(settle())), started = performance.now(), lasts = 5000;
      const step = (time) => {
        now = end * Math.max(0, time - started) / lasts;
        if (now >= end) { stop(); return; }
        draw();
        running = requestAnimationFrame(step);
      };
      running = requestAnimationFrame(step);
    });
    steering.form.append(button);
    into.append(swatches(data.parts, data.partColours));
    const show = stage(into);
    return draw;
  };

  /* ---- banks over time ---- */

  KINDS.banks = (into, data) => {
    const jobs = (chosen) => Array.from({ length: Number(chosen.cpus) }, (_, cpu) => {
      const stride = Number(chosen.stride);
      return chosen.program === "stream"
        ? { strides: [stride, null, null], starts: [cpu * Number(chosen.apart), 0, 0], vector: 2 ** 40, overhead: 0, latency: 0, strips: 1 }
        : { strides: [stride, stride, stride], starts: data.starts.map((start) => start + cpu * Number(chosen.apart)), ...data.loop, strips: 2 ** 30 };
    });
    const WAITED = { busy: "clock periods for a busy bank", simultaneous: "for a bank that another port had just taken", section: "for the line to a section" };

    /* A row for each bank, then one for each CPU in which the ports that wait are counted. */
    function picture(banks, list, grants, waits) {
      const rows = banks + 4 * list.length, height = Math.min(540, 74 + 12 * rows);
      const { plot, x, top, bottom } = frame(show.width(), height, 92, data.cycles, "clock period →");
      const row = (bottom - top) / rows, every = banks > 16 ? banks / 8 : banks > 8 ? 4 : 1;
      for (let bank = 0; bank < banks; bank += every) {
        const name = bank + every < banks ? String(bank) : `bank ${bank}`;
        plot.append(shape("text", { x: 84, y: top + row * (bank + 0.5) + 4, "text-anchor": "end" }, name));
      }
      for (const [t, cpu, port, bank] of grants) {
        const held = Math.min(t + data.busy, data.cycles) - t;
        const said = `bank ${bank}, CPU ${cpu}, port ${"ABC"[port]}: from clock period ${t}`;
        plot.append(box(x(t), top + row * (bank + 0.08), x(held) - x(0), 0.84 * row, data.series[cpu], said));
      }
      const foot = (cpu) => top + row * (banks + 4 * cpu + 3.8), level = new Map();
      list.forEach((_, cpu) => plot.append(shape("text", { x: 84, y: foot(cpu) - row, "text-anchor": "end" }, `CPU ${cpu} waits`)));
      for (const [t, cpu] of waits) {
        const key = `${t} ${cpu}`, above = (level.get(key) || 0) + 1;
        level.set(key, above);
        plot.append(box(x(t), foot(cpu) - 0.9 * row * above, x(1) - x(0), 0.9 * row, data.series[cpu], `CPU ${cpu} waits`));
      }
      return plot;
    }

    function draw() {
      const chosen = steering.values(), list = jobs(chosen), banks = Number(chosen.banks);
      const memory = { banks, busy: data.busy, sections: data.sections, lines: data.lines };
      const { grants, waits } = simulate(memory, list, data.cycles);
      const long = simulate(memory, list, 40 * data.cycles).grants.length / (40 * data.cycles);
      const kinds = data.waits.map((name, number) => [name, waits.filter((wait) => wait[3] === number).length]);
      const lost = kinds.filter((kind) => kind[1]).map(([name, number]) => `${number} ${WAITED[name]}`).join(", ");
      const most = list.length * (chosen.program === "stream" ? 1 : 3);
      show.draw(picture(banks, list, grants, waits), `Simulated: ${long.toFixed(2)} words a clock period in the long run, at most ${most} without waits. `
        + `Stride ${chosen.stride}, ${banks} banks, ${list.length} CPU${list.length > 1 ? "s" : ""}; in the ${data.cycles} clock periods shown, `
        + (lost ? `ports waited: ${lost}.` : "no port waited."));
    }

    const steering = controls(into, {
      program: { label: "each CPU", options: [["loop", "adds vectors: two loads, one store"], ["stream", "loads one endless vector"]], value: "loop" },
      stride: { label: "stride", min: 1, max: 64, value: data.start.stride, text: (value) => `${value} word${value > 1 ? "s" : ""}` },
      banks: { label: "banks", options: [[8, 8], [16, 16], [32, 32], [64, 64]], value: data.start.banks },
      cpus: { label: "CPUs", options: [[1, 1], [2, 2], [4, 4]], value: data.start.cpus },
      apart: { label: "CPUs start", min: 0, max: 16, value: 0, text: (value) => `${value} words apart` },
    }, draw);
    const show = stage(into);
    return draw;
  };

  /* ---- in place of the pictures ---- */

  for (const one of document.querySelectorAll(".rerun-explorer")) {
    const figure = one.querySelector("figure.rerun-figure"), live = element("div", { class: "rerun-live" });
    figure.insertBefore(live, figure.querySelector("svg"));
    const draw = KINDS[one.dataset.kind](live, JSON.parse(one.querySelector('script[type="application/json"]').textContent));
    let width = 0;
    new ResizeObserver(() => { if (Math.abs(live.clientWidth - width) > 8) { width = live.clientWidth; draw(); } }).observe(live);
    one.classList.add("is-live");
  }
})();
