/* Measures the device that shows this page: one worker a kernel, verified answers, nothing sent anywhere.  Modules are
   scripts beside this one, loaded when somebody asks, so that a book in a folder works as well. */
"use strict";
(() => {
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const device = window.rerunDevice = Object.assign(window.rerunDevice || {}, { results: {} });
  device.parts = device.parts || {};

  const KEPT = "rerun-device";  // in this tab's storage, which no other site and no server sees
  const SHARES = { stride: 7, loops: 3.5, bt: 6, forecast: 3 };
  const SHORT = 15, LONG = 60, OF_FIGURE = 8;  // s in all
  const SCATTER = 0.25;  // of the median, from which samples are doubtful
  const LABEL = "this device, in the browser, 128 bits";

  class Refused extends Error {}

  /* A part of the measurement, by the script that has it. */
  const part = (name) => device.parts[name] ? Promise.resolve(device.parts[name]) : new Promise((found, failed) => {
    const script = document.createElement("script");
    script.src = `${here}${name}.js`;
    script.onload = () => device.parts[name] ? found(device.parts[name]) : failed(new Refused(`“${name}” is damaged; nothing was run.`));
    script.onerror = () => failed(new Refused(`“${name}” of this book was not found; without it nothing can be measured.`));
    document.head.append(script);
  });

  function recall() {
    try {
      device.results = JSON.parse(sessionStorage.getItem(KEPT)) || {};
    } catch (error) {
      device.results = {};  // no storage, or what is there is not ours
    }
  }

  function keep() {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(device.results));
    } catch (error) { /* the results stay with this page alone */ }
    document.dispatchEvent(new CustomEvent("rerun-device"));
  }

  function forget() {
    device.results = {};
    keep();
  }

  let running = null;

  const LATE = "It took too long here and was ended.";
  const HIDDEN = "The page was in the background, where browsers can slow it down; what it had measured is not shown. Keep it in front and measure again.";

  /* One worker to its end; `tell` hears its events. */
  function work(source, message, tell, seconds) {
    return new Promise((done, failed) => {
      const worker = new Worker(source);
      const late = setTimeout(() => end(failed, new Refused(LATE)), 1000 * seconds);
      function end(how, what) {
        clearTimeout(late);
        worker.terminate();
        how(what);
      }
      running.end = (error) => end(failed, error);
      worker.onerror = (event) => end(failed, new Refused(`The browser stopped it: ${event.message}`));
      worker.onmessage = ({ data }) => {
        if (data.refused) end(failed, new Refused(data.refused));
        else if (data.done) end(done);
        else tell(data);
      };
      worker.postMessage(message);
    });
  }

  function stop(reason = "Stopped. What was measured until then is not shown.") {
    if (!running) return;
    running.stopped = reason;
    running.end(new Refused(reason));
  }

  const halt = () => { if (running.stopped) throw new Refused(running.stopped); };

  /* Measure the cases whose names `wanted` accepts in about `budget` seconds.  `tell` hears {progress, doing}.  Answers
     {results, left}: by name, and sentences of what was left out; refuses with an error that says why. */
  async function measure({ wanted = () => true, budget = SHORT, tell = () => {} }) {
    if (running) throw new Refused("A measurement is under way.");
    if (document.hidden) throw new Refused(HIDDEN);
    running = { end: () => {}, stopped: null };
    const hidden = () => document.hidden && stop(HIDDEN);
    document.addEventListener("visibilitychange", hidden);
    let address = null;
    try {
      const engine = await part("worker"), { cases } = await part("plan");
      const lacks = rerunEngine.lacks();
      if (lacks) throw new Refused(lacks);
      address = URL.createObjectURL(new Blob([engine], { type: "text/javascript" }));
      const groups = grouped(cases.filter((each) => wanted(each.name)));
      const names = [...groups.keys()], share = (list) => list.reduce((sum, name) => sum + (SHARES[name] || 1), 0);
      const results = {}, left = [], seed = Math.floor(performance.timeOrigin) % 2 ** 31;
      const end = performance.now() + 930 * budget;  // the rest is for loading, preparing and verifying
      for (const [number, name] of names.entries()) {
        const before = share(names.slice(0, number)) / share(names), mine = (SHARES[name] || 1) / share(names);
        const tellPart = (progress) => tell({ progress: before + mine * progress, doing: groups.get(name)[0].label });
        tellPart(0);
        const kernel = await part(name);
        halt();
        const rest = Math.max(0.3, (end - performance.now()) / 1000 * (SHARES[name] || 1) / share(names.slice(number)));
        const hear = (event) => {
          if (event.result) results[event.result.name] = event.result;
          else if (event.left) left.push(event.left);
          else tellPart(event.progress);
        };
        const options = { budget: rest, seed: seed + number };
        try {
          await work(address, { kernel, names: groups.get(name).map((each) => each.name), options }, hear, 4 * rest + 10);
        } catch (error) {
          if (error.message !== LATE) throw error;
          left.push(`“${name}”: ${LATE}`);
        }
        halt();
      }
      tell({ progress: 1, doing: "" });
      return { results, left };
    } finally {
      document.removeEventListener("visibilitychange", hidden);
      running = null;
      if (address) URL.revokeObjectURL(address);
    }
  }

  function grouped(cases) {
    const groups = new Map();
    cases.forEach((each) => groups.set(each.kernel, [...(groups.get(each.kernel) || []), each]));
    return groups;
  }

  /* Name of browser and system, as far as it says. */
  function browser() {
    const agent = navigator.userAgent;
    const found = /(Firefox|Edg|OPR|SamsungBrowser|Chrome|Version)\/(\d+)/.exec(agent);
    const names = { Edg: "Edge", OPR: "Opera", SamsungBrowser: "Samsung Internet", Version: "Safari" };
    return found ? `${names[found[1]] || found[1]} ${found[2]}` : "unknown browser";
  }

  /* What was measured as a record of kind “browser”, see supercomputers_rerun/companion/records/run_record.schema.json. */
  async function record(results, longer) {
    const { provenance } = await part("plan"), list = Object.values(results);
    const nothing = { vendor: null, architecture: null, isa: null, sockets: null, cores: null, threads_per_core: null,
                      smt_siblings: null, numa_nodes: null, governor: null, nominal_hz: null, maximum_hz: null };
    const cpus = navigator.hardwareConcurrency || 1, memory = navigator.deviceMemory ? navigator.deviceMemory * 2 ** 30 : null;
    return {
      schema: "supercomputers-rerun/run-record", version: 2, experiment: "device", document: "device", item: "device",
      title: "The device that showed this page, measured in its browser", preset: longer ? "longer" : "short", threads: 1, seed: 0,
      date: new Date().toISOString().replace(/\.\d+Z/, "Z"), simulated: false, kind: "browser",
      few_samples: list.some((each) => each.samples.length < 3) ? "the budget of the page" : null,
      machine: {
        cpu: { model: `unknown model, in ${browser()}`, logical_cpus: cpus, ...nothing },
        usable: { cpus, affinity: null, quota_cpus: null }, caches: [],
        memory: { total_bytes: memory, available_bytes: null, page_bytes: null, transparent_huge_pages: null },
        filesystem: { type: null },
        system: { os: navigator.platform || null, kernel: null, virtual_machine: null },
        software: { python: null, browser: navigator.userAgent, target: "wasm32, vectors of 128 bits" }, provenance,
      },
      measurements: list.map((each) => ({
        label: each.label, kernel: `kernels.portable.${each.name.replace(/-.*/, "")}`, problem: each.problem, threads: 1,
        parameters: each.problem, setup_s: each.setup, compile_s: each.first, repeats: each.repeats, samples: each.samples,
        work: each.work, checks_before: each.before, checks_after: each.after, flags: {}, other_load: null, batch: 0, observed: {},
      })),
      outputs: {
        clock_resolution: { value: Math.max(...list.map((each) => each.tick)), units: "s", long_name: "least step of the browser's clock" },
      },
    };
  }

  /* The middle of the samples in the unit that is shown, the best, and the ends of their interval or, of too few for
     one, of their range; whether these lie so far apart that something else disturbed the timing. */
  function shown({ unit: [unit, amount, rate], summary }) {
    const value = (seconds) => rate ? amount / seconds : amount * seconds;
    const [low, high] = summary.interval || [summary.least, summary.most], scatter = (high - low) / summary.median;
    return { unit, median: value(summary.median), seconds: summary.median, best: value(summary.least),
             ends: [low, high].map(value).sort((a, b) => a - b), scatter, doubtful: scatter > SCATTER };
  }

  Object.assign(device, { LABEL, SHORT, LONG, OF_FIGURE, Refused, measure, stop, keep, recall, forget, record, shown, part });
  recall();
})();
