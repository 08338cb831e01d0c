/* Lets a reader put the device at hand into a figure.  The drawing says where its axes are (supercomputers_rerun/companion/figures/kit.py);
   what is drawn was measured in this page, or earlier in this tab. */
"use strict";
(() => {
  const here = document.currentScript.src.replace(/[^/]*$/, ""), SVG = "http://www.w3.org/2000/svg", INK = "#a3006d";
  const rows = (names) => (result) => names[result.name];
  const value = (result, device) => device.shown(result).median;
  const LOOPS = { "loop-s1": "one chain of additions", "loop-s2": "two chains", "loop-s10": "ten chains",
                  "loop-streaming": "two chains, fed by all words of an array",
                  "loop-skipping": "two chains, skipping (two words of ten)" };
  const KINDS = { "loop-s10": "additions in registers", "loop-streaming": "streams through an array",
                  "loop-skipping": "skips through an array", "bt-W": "BT, a flow solver, on vectors",
                  "bt-S": "BT, a flow solver, on vectors" };

  /* By the figure's name: which cases it takes, and where their marks lie; a line joins marks of one `line`, whose words
     stand at its first mark; from the second line on, marks are hollow. */
  const RULES = {
    p5plus_bandwidth: { takes: /^stride-/, x: (result) => result.problem.nbytes, y: value, line: (result) => `stride ${result.problem.stride}` },
    p5plus_loops: { takes: /^loop-\w+$/, x: value, y: rows(LOOPS) },
    nht1_solver: { takes: /^bt-/, x: (result) => result.problem.N, y: (result, device) => 1e3 * device.shown(result).seconds / result.problem.NS, line: () => "" },
    // the smaller class of BT stands for the larger where there was no time for this
    sustained_rate: { takes: /^(loop-(s10|streaming|skipping)|bt-[SW])$/, x: value,
                      y: (result, device) => result.name !== "bt-S" || !device.results["bt-W"] ? KINDS[result.name] : undefined },
  };

  const element = (name, attributes = {}, text = "") => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, given]) => made.setAttribute(key, given));
    made.textContent = text;
    return made;
  };
  const drawing = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, given]) => made.setAttribute(key, given));
    return made;
  };

  /* Where a number or the name of a row lies on an axis: from 0 to 1, and −1 or 1 where it is beyond an end, at which the
     mark stays; null where the axis has no such place. */
  function along(axis, at) {
    let [low, high] = axis.ends, place = typeof at === "string" ? axis.named[at] : at;
    if (place === undefined || !Number.isFinite(place)) return null;
    if (axis.log) [low, high, place] = [low, high, place].map(Math.log);
    const share = (place - low) / (high - low);
    return [Math.min(1, Math.max(0, share)), share < -0.005 ? -1 : share > 1.005 ? 1 : 0];
  }

  /* A star of four points: no machine of a report and no measured one has it.  The colours are those of paper, for a picture
     that is saved; the style sheet has those of the screen. */
  function star(x, y, size, words, open = false) {
    const points = Array.from({ length: 8 }, (_, n) => {
      const r = n % 2 ? 0.38 * size : size, turn = n * Math.PI / 4;
      return `${(x + r * Math.sin(turn)).toFixed(2)},${(y - r * Math.cos(turn)).toFixed(2)}`;
    });
    const [fill, stroke, width] = open ? ["#fff", INK, 1.2] : [INK, "#fff", 0.6];
    const made = drawing("polygon", { points: points.join(" "), class: `rerun-star${open ? " is-open" : ""}`, fill, stroke, "stroke-width": width });
    const title = drawing("title", {});
    title.textContent = words;
    made.append(title);
    return made;
  }

  /* Says that a mark at the frame stands for a number beyond it, `way` to the right and down. */
  function arrow([x, y], [right, down]) {
    const tip = [x + 13 * right, y + 13 * down], base = [x + 8 * right, y + 8 * down], side = [3 * down, 3 * right];
    const corners = [tip, [base[0] + side[0], base[1] - side[1]], [base[0] - side[0], base[1] + side[1]]];
    return drawing("polygon", { points: corners.map((at) => at.map((n) => n.toFixed(2)).join(",")).join(" "), class: "rerun-star-beyond", fill: INK });
  }

  /* Words of one result: "BT class S: 12.3 GFLOPS". */
  function words(result, device) {
    const { unit, median } = device.shown(result);
    return `${result.label}: ${median.toPrecision(3)} ${unit}`;
  }

  /* Draws the marks, and gives the names of those that lie beyond the axes. */
  function draw(figure, results, device) {
    const rule = RULES[figure.dataset.name], beyond = new Set();
    figure.querySelectorAll("svg[data-panels]").forEach((svg) => {
      svg.querySelector("g.rerun-device-marks")?.remove();
      const [panel] = JSON.parse(svg.dataset.panels), [left, top, right, bottom] = panel.box;
      const group = drawing("g", { class: "rerun-device-marks", "data-said": `Stars: ${device.LABEL}.` });
      const lines = new Map(rule.line && results.map((result) => [rule.line(result), []]));
      for (const result of results) {
        const x = along(panel.x, rule.x(result, device)), y = along(panel.y, rule.y(result, device));
        if (x === null || y === null) continue;
        const at = [left + x[0] * (right - left), bottom - y[0] * (bottom - top)], way = [x[1], -y[1]];
        if (rule.line) lines.get(rule.line(result)).push(at);
        const open = rule.line && rule.line(result) !== [...lines.keys()][0];
        group.append(star(...at, 5.5, `${device.LABEL}: ${words(result, device)}`, open));
        if (way.some(Boolean)) {
          beyond.add(result.name);
          group.append(arrow(at, way));
        }
      }
      [...lines].filter(([, points]) => points.length).forEach(([name, points], n) => {
        group.prepend(drawing("polyline", {
          points: points.map((at) => at.map((n) => n.toFixed(2)).join(",")).join(" "), class: "rerun-star-line",
          fill: "none", stroke: INK, "stroke-width": 1, "stroke-dasharray": n ? "5 3" : "1 2.5" }));
        const label = drawing("text", { x: points[0][0] + 4, y: points[0][1] - 8, "font-size": 8.8, fill: INK, class: "rerun-star-label" });
        label.textContent = name && `${name}, here`;
        group.append(label);
      });
      if (group.childElementCount) svg.append(group);
    });
    return beyond;
  }

  const script = (name) => new Promise((done, failed) => {
    if (window.rerunDevice?.measure) return done();
    const made = element("script", { src: `${here}${name}` });
    made.onload = done;
    made.onerror = () => failed(new Error(`“${name}” of this book was not found.`));
    document.head.append(made);
  });

  /* The results that a figure takes, in the order of their cases. */
  const taken = (figure, device) => Object.values(device.results).filter((result) => RULES[figure.dataset.name].takes.test(result.name));

  function dress(figure) {
    const box = element("div", { class: "rerun-device" });
    const button = element("button", { type: "button" }, "Add this device");
    const said = element("span", { role: "status" });
    const progress = element("progress", { max: "1", value: "0", hidden: "", "aria-label": "progress of the measurement" });
    const folded = element("details", { hidden: "" });
    box.append(button, progress, said, folded);
    figure.querySelector("figcaption").append(box);

    function show(device) {
      const results = taken(figure, device);
      const beyond = draw(figure, results, device);
      folded.hidden = !results.length;
      const summary = element("summary");
      const sample = drawing("svg", { viewBox: "-7 -7 14 14", width: "14", height: "14", role: "img", "aria-label": "star" });
      sample.append(star(0, 0, 6.5, ""));
      summary.append(sample, ` ${device.LABEL}`);
      const list = element("ul");
      results.forEach((result) => list.append(element("li", {}, words(result, device) + (beyond.has(result.name) ? ", beyond the axes of this figure" : ""))));
      folded.replaceChildren(summary, list);
      button.textContent = results.length ? "Measure this device again" : "Add this device";
      return results.length;
    }

    button.addEventListener("click", async () => {
      button.disabled = true;
      progress.hidden = false;
      said.textContent = "It measures, and sends nothing anywhere …";
      try {
        await script("device.js");
        const device = window.rerunDevice;
        const tell = ({ progress: part }) => { progress.value = part; };
        const { results, left } = await device.measure({
          wanted: (name) => RULES[figure.dataset.name].takes.test(name), budget: device.OF_FIGURE, tell });
        Object.assign(device.results, results);
        device.keep();
        said.textContent = ["Measured and verified.", ...left].join(" ");
      } catch (error) {
        said.textContent = error.message;
      }
      button.disabled = false;
      progress.hidden = true;
    });
    document.addEventListener("rerun-device", () => show(window.rerunDevice));
    if (window.rerunDevice?.measure) show(window.rerunDevice);
  }

  function begin() {
    const figures = [...document.querySelectorAll("figure.rerun-figure[data-name]")]
      .filter((figure) => RULES[figure.dataset.name] && figure.querySelector("svg[data-panels]"));
    figures.forEach(dress);
    let kept = null;
    try {
      kept = sessionStorage.getItem("rerun-device");
    } catch (error) { /* no storage: nothing was kept */ }
    if (figures.length && kept && kept !== "{}") script("device.js").then(() => document.dispatchEvent(new CustomEvent("rerun-device")), () => {});
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
