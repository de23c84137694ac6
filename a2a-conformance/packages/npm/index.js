// Conformance checks of an A2A agent: runs the program `a2a-conformance` and reads its report.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program } from "./program.js";

const MET = ["pass", "pass-lenient", "note"];
const BINDINGS = { JSONRPC: "jsonrpc", "HTTP+JSON": "http-json", GRPC: "grpc" };

/** Tests an agent, and returns its checks. Rejects if the suite cannot be run, the agent cannot be reached, or nothing was checked. */
export async function run({ url, exec, blackBox = true, versions = [], bindings = [], timeout, waivers, strict, args = [] } = {}) {
  if (!url === !exec) throw new Error("cannot run the suite: one of url and exec is required");
  const target = [...(exec ? ["--exec", exec] : [url]), ...(blackBox ? ["--black-box"] : [])];
  const options = [
    ...versions.flatMap((version) => ["--protocol-version", version]),
    ...bindings.flatMap((binding) => ["--binding", binding]),
    ...(timeout === undefined ? [] : ["--timeout", String(timeout)]),
    ...(waivers === undefined ? [] : ["--waivers", waivers]),
    ...(strict ? ["--strict"] : []),
  ];
  const directory = await mkdtemp(join(tmpdir(), "a2a-conformance-"));
  try {
    const { code, output } = await finish([program(), "agent", ...target, ...options, ...args, "--report", "json", "-o", directory]);
    const report = await readFile(join(directory, "report.json"), "utf8").catch(() => undefined);
    // 0 met, 1 not met, 4 the suite at fault, 5 a waiver out of date: with a report.
    if (![0, 1, 4, 5].includes(code) || report === undefined) {
      const said = output.trim().replace(/^error: /, "") || "no output";
      throw new Error(`the suite checked nothing: ${said} (exit code ${code})`);
    }
    return readChecks(JSON.parse(report), target);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Runs the suite, and registers a test for each check with `test` of node:test or vitest. */
export async function checks(test, options) {
  for (const check of await run(options)) {
    test(check.name, (context) => {
      if (check.outcome === "skipped") return context.skip(check.message);
      // The message has what a reader needs: the stack would be that of this package.
      if (check.outcome === "failed") throw Object.assign(new Error(check.message), { stack: check.message });
    });
  }
}

function finish([command, ...words]) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"] });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (texts[name] += text));
    child.on("error", (error) => reject(new Error(`cannot run the suite: ${error.message}`, { cause: error })));
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output: texts.stderr || texts.stdout }));
  });
}

/** Returns the checks of a report, and a failed one for each waiver that is out of date. */
function readChecks(report, target) {
  const rules = new Map((report.requirements ?? []).map((rule) => [rule.id, rule]));
  const strict = report.settings.strict ?? false;
  const found = report.checks.map((check) => {
    const result = outcome(check, strict);
    return { ...head(check), outcome: result, message: result === "passed" ? "" : describe(check, rules, target) };
  });
  const outdated = (report.waivers ?? []).filter(({ state }) => ["expired", "stale"].includes(state));
  return found.concat(
    outdated.map((waiver) => ({
      ...head({ ...waiver, id: `waiver.${waiver.check}`, level: "must", verdict: waiver.state }),
      outcome: "failed",
      message: `the waiver of ${waiver.check} is ${waiver.state}: ${waiver.reason} (until ${waiver.expires})`,
    })),
  );
}

function head({ id, level, verdict, protocolVersion, binding }) {
  const name = [id, protocolVersion, binding].filter(Boolean).join(" ");
  return { id, name, level, verdict, version: protocolVersion ?? undefined, binding: binding ?? undefined };
}

/** Returns the outcome of a check: a failed one fails the run of the suite, too. */
export function outcome({ verdict, level, sameCauseAs }, strict) {
  if (MET.includes(verdict)) return "passed";
  if (["not-applicable", "waived"].includes(verdict) || sameCauseAs) return "skipped";
  if (["fail", "harness-error"].includes(verdict)) return "failed";
  const required = verdict === "warn" || level === "should" ? strict : level === "must";
  return required ? "failed" : "skipped";
}

/** Returns what was not met: the verdict, the sentences of the specification, the differences, and how to repeat it. */
function describe(check, rules, target) {
  const { id, title, verdict, reason, sameCauseAs, protocolVersion, binding } = check;
  if (sameCauseAs) return `${verdict}: same cause as ${sameCauseAs}`;
  if (["not-applicable", "waived"].includes(verdict)) return `${verdict}: ${reason ?? title}`;
  const filters = ["--run", id];
  if (protocolVersion) filters.push("--protocol-version", protocolVersion);
  if (binding) filters.push("--binding", BINDINGS[binding] ?? binding);
  // The request of the first difference.
  const index = (check.mismatches ?? []).map((mismatch) => mismatch.evidence).find((index) => index != null) ?? 0;
  return [
    `${verdict}: ${title}`,
    reason,
    ...check.requirements.map((name) => (rules.has(name) ? `${name} §${rules.get(name).section} ${rules.get(name).says}` : name)),
    ...(check.mismatches ?? []).map(({ place, expected, found }) => `  at        ${place}\n  expected  ${expected}\n  found     ${found}`),
    `repeat: ${shell(["a2a-conformance", "agent", ...target, ...filters])}`,
    check.evidence?.[index]?.command,
  ].filter(Boolean).join("\n");
}

const shell = (words) => words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
