/* What kernels/portable describes, run in a worker or under Node: verify, choose repeats by the clock, sample in random
   order, verify again.  A kernel is {module (base64), sum (CRC-32 of its bytes), cases}.  The words are those of
   kernels/portable/case.py. */
"use strict";
const rerunEngine = (() => {
  const PAGE = 65536, LINE = 64, STACK = 131072, MODULE = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  const SIZES = { "float64[]": 8, "int64[]": 8, "uint64[]": 8, "uint32[]": 4 };
  const FEWEST = 3, MOST = 25;  // samples of a case
  const CLOCKS = 40, SHORTEST = 0.008, WARM = 0.06;  // resolutions and seconds of a sample, s of running before the first
  const LONG = 0.5;  // s of a repeat, which warms enough by itself, and before which others of its kernel say how long it takes

  class Refused extends Error {}
  class NoRoom extends Refused {}

  /* A module of one function that returns a vector: what a browser without vectors of 128 bits refuses. */
  const VECTOR = [1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 22, 1, 20, 0, 253, 12, ...new Array(16).fill(0), 11];

  /* The sentence that says what this browser lacks; null where it lacks nothing. */
  function lacks() {
    if (typeof WebAssembly === "undefined") return "This browser has no WebAssembly, or it is switched off, so that nothing can be measured here.";
    if (!WebAssembly.validate(Uint8Array.of(...MODULE, ...VECTOR))) return "WebAssembly of this browser has no vectors of 128 bits (SIMD), which the kernels need; a newer version may have them.";
    return null;
  }

  function unpacked(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  function crc32(bytes) {
    let sum = ~0;
    for (const byte of bytes) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
    }
    return ~sum >>> 0;
  }

  const seconds = () => performance.now() / 1000;

  /* The least step of the clock, s: browsers coarsen it, some to a millisecond and more. */
  function resolution() {
    let least = Infinity;
    for (let n = 0; n < 20; n += 1) {
      const begin = seconds();
      let now = begin;
      while (now === begin) now = seconds();
      least = Math.min(least, now - begin);
      if (least > 0.01 && n > 1) break;
    }
    return least;
  }

  function compiled(kernel) {
    const bytes = unpacked(kernel.module);
    if (crc32(bytes) !== kernel.sum) throw new Refused("A module is damaged: its bytes are not those that were built. Nothing of it was run; load the page again.");
    return new WebAssembly.Module(bytes);
  }

  /* One case in a memory of its own. */
  class Running {
    constructor(module, described) {
      this.described = described;
      let top = STACK;
      this.places = {};
      for (const [name, array] of Object.entries(described.arrays)) {
        this.places[name] = top;
        top = Math.ceil((top + array.length * SIZES[array.kind]) / LINE + 1) * LINE;
      }
      try {
        this.memory = new WebAssembly.Memory({ initial: Math.ceil(top / PAGE) });
      } catch (error) {
        throw new NoRoom(`This browser did not give this page the ${Math.ceil(top / 2 ** 20)} MB that “${described.label}” needs.`);
      }
      const stack = new WebAssembly.Global({ value: "i32", mutable: true }, STACK);
      const env = { __linear_memory: this.memory, __stack_pointer: stack };
      this.functions = new WebAssembly.Instance(module, { env }).exports;
      for (const [name, array] of Object.entries(described.arrays)) {
        if (array.data) new Uint8Array(this.memory.buffer).set(unpacked(array.data), this.places[name]);
      }
      for (const call of described.prepare) this.call(call);
    }

    call([name, names], repeats = 1) {
      const { whole, real } = this.described;
      this.functions[name](...names.map((each) => {
        if (each in this.places) return this.places[each];
        if (each === "repeats") return BigInt(repeats);
        return each in whole ? BigInt(whole[each]) : real[each];
      }));
    }

    /* Seconds of so many repeats. */
    time(repeats) {
      const begin = seconds();
      this.call(this.described.run, repeats);
      return seconds() - begin;
    }

    /* Every answer of the last run; a wrong one is refused. */
    verify() {
      this.call(this.described.verify);
      const found = new Float64Array(this.memory.buffer, this.places.answers, this.described.answers.length);
      return this.described.answers.map(([name, expected, tolerance], i) => {
        const value = found[i];
        if (!(Math.abs(value - expected) <= tolerance)) {
          throw new Refused(`“${this.described.label}” is wrong on this device: ${name} is ${value}, and should be ${expected}. Its time is not shown.`);
        }
        return { name, value, expected, tolerance, ok: true };
      });
    }
  }

  /* A random number below n, by the generator “mulberry32”. */
  function chance(seed) {
    let state = seed >>> 0;
    return (n) => {
      state = (state + 0x6d2b79f5) >>> 0;
      let z = Math.imul(state ^ (state >>> 15), 1 | state);
      z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
      return Math.floor(((z ^ (z >>> 14)) >>> 0) / 4294967296 * n);
    };
  }

  function shuffled(list, random) {
    const turned = [...list];
    for (let i = turned.length - 1; i > 0; i -= 1) {
      const j = random(i + 1);
      [turned[i], turned[j]] = [turned[j], turned[i]];
    }
    return turned;
  }

  /* Ready to be sampled: verified, warm (browsers make faster code for what ran a while), repeats chosen. */
  function ready(module, described, tick) {
    const begin = seconds();
    const running = new Running(module, described), setup = seconds() - begin;
    const first = running.time(1);
    const before = running.verify();
    let repeats = 1, one = first, spent = first;
    const least = Math.max(SHORTEST, CLOCKS * tick);
    for (let took = first; spent < WARM || (took < least / 4 && repeats < 2 ** 40);) {
      if (took < least / 4) repeats *= 2;
      took = running.time(repeats);
      spent += took;
      if (took > 0) one = took / repeats;
    }
    if (first < LONG) one = Math.min(one, running.time(repeats) / repeats) || one;
    return { running, setup, first, before, repeats: Math.max(1, Math.ceil(least / one)), one, samples: [] };
  }

  /* All cases of a kernel whose names are in `names`.  `tell(event)` hears {progress: 0 … 1} and in the end gets each
     {result}, or {left: sentence} of a case that does not fit into `budget` seconds or into memory. */
  function measure(kernel, names, { budget, seed = 0, least = FEWEST }, tell) {
    const end = seconds() + budget, random = chance(seed), tick = resolution(), module = compiled(kernel);
    const cases = [], late = end + 0.5 * budget;
    let pace = 0;  // seconds an operation, of the case before
    const wanted = kernel.cases.filter((described) => names.includes(described.name));
    for (const [number, described] of wanted.entries()) {
      tell({ progress: 0.4 * number / wanted.length });
      const long = () => tell({ left: `“${described.label}” does not fit into the time of this run; a longer one may have it.` });
      const guess = pace * described.work.flops;
      if (guess > LONG && seconds() + (least + 1) * guess > late) {
        long();
        continue;
      }
      let each;
      try {
        each = ready(module, described, tick);
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        tell({ left: error.message });
        continue;
      }
      pace = described.work.flops ? each.one / described.work.flops : 0;
      const needs = least * each.repeats * each.one;  // what takes six seconds at most has a result whatever was before it
      if (seconds() + needs > late && (cases.length || needs > 6)) long();
      else cases.push(each);
    }
    const fits = (each) => seconds() + each.repeats * each.one < end;
    for (let rounds = 0; rounds < MOST; rounds += 1) {
      const these = rounds < least ? cases : cases.filter(fits);
      if (!these.length) break;
      for (const each of shuffled(these, random)) {
        if (rounds >= least && !fits(each)) continue;
        each.samples.push(each.running.time(each.repeats) / each.repeats);
      }
      tell({ progress: 0.4 + 0.6 * Math.min(1, 1 - Math.max(0, end - seconds()) / budget) });
    }
    for (const each of cases) tell({ result: result(each, tick) });
  }

  function result(each, tick) {
    const after = each.running.verify(), { name, label, problem, work, measure: unit } = each.running.described;
    const { first, setup, before, repeats, samples } = each;
    return { name, label, problem, work, unit, setup, first, repeats, samples, before, after, tick, summary: summary(samples) };
  }

  /* Least, most and median of samples, and the interval that holds the median with 95 %: the k-th of each end, for the largest
     k with at most 2.5 % of a chance that fewer than k of them lie below it; null of fewer than six. */
  function summary(samples) {
    const sorted = [...samples].sort((a, b) => a - b), n = sorted.length;
    const median = n % 2 ? sorted[(n - 1) / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    let rank = 0, term = 2 ** -n, below = term;
    while (below <= 0.025) {
      rank += 1;
      term *= (n - rank + 1) / rank;
      below += term;
    }
    return { least: sorted[0], most: sorted[n - 1], median, interval: rank ? [sorted[rank - 1], sorted[n - rank]] : null };
  }

  return { Refused, lacks, crc32, unpacked, resolution, compiled, Running, ready, measure, summary };
})();
if (typeof module !== "undefined") module.exports = rerunEngine;
if (typeof WorkerGlobalScope !== "undefined") {
  self.onmessage = ({ data: { kernel, names, options } }) => {
    try {
      rerunEngine.measure(kernel, names, options, (event) => self.postMessage(event));
      self.postMessage({ done: true });
    } catch (error) {
      const own = error instanceof rerunEngine.Refused;
      self.postMessage({ refused: own ? error.message : `The browser stopped it: ${error.message}` });
    }
  };
}
