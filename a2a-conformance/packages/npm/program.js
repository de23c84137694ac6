// The program of this platform: the binary in the package of the platform, or for the suite the path in A2A_CONFORMANCE.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const SUFFIX = process.platform === "win32" ? ".exe" : "";

/** Returns its path. */
export function program(name = "a2a-conformance", owner = name) {
  const isSuite = name === "a2a-conformance";
  if (isSuite && process.env.A2A_CONFORMANCE) return process.env.A2A_CONFORMANCE;
  const platform = `@${owner}/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${platform}/${name}${SUFFIX}`);
  } catch {
    const advice = isSuite ? "install it, or name the program in A2A_CONFORMANCE" : "install it";
    throw new Error(`cannot run ${name}: ${platform} is not installed: ${advice}`);
  }
}

/** Runs it with the arguments of this process, and ends as it does, or with `failure` if it cannot be run. */
export function launch(failure, name, owner) {
  const fail = (error) => {
    console.error(`error: ${error.message}`);
    process.exit(failure);
  };
  let child;
  try {
    child = spawn(program(name, owner), process.argv.slice(2), { stdio: "inherit" });
  } catch (error) {
    fail(error);
  }
  // A terminal sends Ctrl-C to the program, too, which decides how it ends; a second one would end it at once.
  const isSentToBoth = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on("SIGINT", () => isSentToBoth || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(new Error(`cannot run ${name}: ${error.message}`)));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
