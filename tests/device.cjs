/* node tests/device.cjs ENGINE FOLDER: reads [names, options] from the standard input, writes what the engine tells of
   these cases, one kernel after another, and the arrays that are asked for after one run, before which those that are
   given are written. */
"use strict";
const fs = require("fs");
const engine = require(process.argv[2]), folder = process.argv[3];
const { names, options, arrays, given, damage } = JSON.parse(fs.readFileSync(0, "utf-8"));
const every = JSON.parse(fs.readFileSync(`${folder}/cases.json`, "utf-8")).filter((each) => names.includes(each.name));
const told = [];
for (const name of new Set(every.map((each) => each.kernel))) {
  const bytes = fs.readFileSync(`${folder}/${name}.wasm`), sum = engine.crc32(bytes);
  const cases = every.filter((each) => each.kernel === name);
  if (damage !== undefined) bytes[damage % bytes.length] ^= 1;
  const kernel = { module: bytes.toString("base64"), sum, cases };
  try {
    if (arrays) {
      for (const described of cases) {
        const running = new engine.Running(engine.compiled(kernel), described);
        for (const [name, base64] of Object.entries(given || {})) {
          new Uint8Array(running.memory.buffer).set(engine.unpacked(base64), running.places[name]);
        }
        running.call(described.run);
        const found = { checks: running.verify() };
        for (const array of arrays) {
          const { length, kind } = described.arrays[array];
          found[array] = Buffer.from(running.memory.buffer, running.places[array], length * (kind === "uint32[]" ? 4 : 8)).toString("base64");
        }
        told.push(found);
      }
    } else engine.measure(kernel, names, options, (event) => "progress" in event || told.push(event));
  } catch (error) {
    if (!(error instanceof engine.Refused)) throw error;
    told.push({ refused: error.message });
  }
}
console.log(JSON.stringify(told));
