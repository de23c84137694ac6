#!/usr/bin/env node
// Runs the program of this platform, and ends as it does.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { program } from "../program.js";

function fail(error) {
  console.error(`error: ${error.message}`);
  process.exit(4);
}

let child;
try {
  child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
} catch (error) {
  fail(error);
}
// A terminal sends Ctrl-C to both: the program decides how it ends, and a second SIGINT does no harm.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(new Error(`cannot run the suite: ${error.message}`)));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
