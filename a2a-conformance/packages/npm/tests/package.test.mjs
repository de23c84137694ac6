// Tests of the packed packages in a clean project: `A2A` names the program `a2a`, `A2A_CONFORMANCE` the suite.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const suite = resolve(process.env.A2A_CONFORMANCE);
const REFERENCE = `${process.env.A2A} serve reference --local-webhooks --address 127.0.0.1:{port}`;
const BROKEN = `python3 ${join(here, "../../python/tests/broken_agent.py")} {port}`;
const TARGET = { "linux-x64": "x86_64-unknown-linux-gnu", "linux-arm64": "aarch64-unknown-linux-gnu", "darwin-arm64": "aarch64-apple-darwin" };

const project = mkdtempSync(join(tmpdir(), "a2a-npm-"));
after(() => rmSync(project, { recursive: true }));
const { A2A_CONFORMANCE, NODE_TEST_CONTEXT, ...env } = process.env;
const options = { cwd: project, env, encoding: "utf8" };
const packages = join(project, "packages");
execFileSync(process.execPath, [join(here, "../make_packages.mjs"), packages, "main", `${TARGET[`${process.platform}-${process.arch}`]}=${dirname(suite)}`], options);
const folders = readdirSync(packages).map((name) => `./packages/${name}`);
execFileSync("npm", ["pack", "--silent", ...folders], options);
writeFileSync(join(project, "package.json"), '{ "private": true }');
const archives = readdirSync(project).filter((name) => name.endsWith(".tgz")).map((name) => `./${name}`);
// The packages of other platforms are not in the registry: npm leaves out an optional one that it does not find.
execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", ...archives], options);
cpSync(join(here, "../examples"), project, { recursive: true });
const launcher = join(project, "node_modules/.bin/a2a-conformance");

test("launcher runs the program of the platform and passes on its exit code", () => {
  const version = spawnSync(launcher, ["--version"], options);
  assert.match(version.stdout, /^a2a-conformance \d/);
  assert.equal(spawnSync(launcher, ["agent", "http://127.0.0.1:1"], options).status, 3);
});

test("the command a2a runs the program of its own package", () => {
  const version = spawnSync(join(project, "node_modules/.bin/a2a"), ["--version"], options);
  assert.match(version.stdout, /^a2a \d/);
});

test("launcher passes on a signal", async () => {
  const agent = `sleep ${1e6 + process.pid}`;
  const isRunning = () => spawnSync("pgrep", ["-fx", agent]).status === 0;
  const child = spawn(launcher, ["agent", "--exec", agent], { ...options, stdio: "ignore" });
  const exit = new Promise((done) => child.on("exit", done));
  while (!isRunning()) await new Promise((done) => setTimeout(done, 50));
  child.kill("SIGTERM");
  assert.equal(await exit, 130);
  assert.equal(isRunning(), false);
});

test("launcher without a program is an error", () => {
  const done = spawnSync(launcher, [], { ...options, env: { ...env, A2A_CONFORMANCE: "/no/such/program" } });
  assert.equal(done.status, 4);
  assert.match(done.stderr, /^error: cannot run a2a-conformance: .*ENOENT/);
});

test("example of node:test passes for the reference agent", () => {
  const done = spawnSync(process.execPath, ["--test", "node.test.mjs"], { ...options, env: { ...env, AGENT: REFERENCE } });
  assert.equal(done.status, 0, done.stdout);
  assert.match(done.stdout, /# fail 0/);
});

test("example of node:test fails for a broken agent, with requirement and cause", () => {
  const done = spawnSync(process.execPath, ["--test", "node.test.mjs"], { ...options, env: { ...env, AGENT: BROKEN } });
  assert.equal(done.status, 1);
  for (const part of ["not ok", "A2A10-9.3-M2 §9.3 Responses are JSON-RPC 2.0", "expected  -7", "--run rpc.id-echoed", "curl -sSi http"]) {
    assert.ok(done.stdout.includes(part), part);
  }
});

test("example of vitest passes for the reference agent and fails for a broken one", { skip: process.env.OFFLINE }, () => {
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", "vitest@3"], options);
  const vitest = (agent) => spawnSync("npx", ["vitest", "run", "vitest.test.mjs"], { ...options, env: { ...env, AGENT: agent } });
  assert.equal(vitest(REFERENCE).status, 0);
  const broken = vitest(BROKEN);
  assert.equal(broken.status, 1);
  assert.match(broken.stdout + broken.stderr, /A2A10-9\.3-M2 §9\.3 Responses are JSON-RPC 2\.0/);
});

test("run reports waivers out of date, and rejects if nothing was checked", async () => {
  process.env.A2A_CONFORMANCE = suite;
  const { run, outcome } = await import("../index.js");
  const waivers = join(project, "waivers.yaml");
  writeFileSync(waivers, "- {check: rpc.id-echoed, reason: TICKET-17, expires: 2999-12-31}\n- {check: card.no-secrets, reason: TICKET-18, expires: 2020-01-01}\n");
  const found = await run({ exec: BROKEN, waivers, args: ["--run", "rpc.id-echoed", "--run", "card.no-secrets"] });
  const byId = Object.fromEntries(found.map((check) => [check.id, check]));
  assert.match(byId["rpc.id-echoed"].message, /^waived: .*TICKET-17/);
  assert.equal(byId["waiver.card.no-secrets"].outcome, "failed");
  await assert.rejects(run({ url: "http://127.0.0.1:1" }), /the suite checked nothing: .*cannot connect/);
  await assert.rejects(run({}), /one of url and exec/);
  process.env.A2A_CONFORMANCE = "/no/such/program";
  await assert.rejects(run({ url: "http://127.0.0.1:1" }), /cannot run the suite: .*ENOENT/);

  assert.equal(outcome({ verdict: "untestable", level: "must" }, false), "failed");
  assert.equal(outcome({ verdict: "warn", level: "should" }, false), "skipped");
  assert.equal(outcome({ verdict: "warn", level: "should" }, true), "failed");
  assert.equal(outcome({ verdict: "fail", level: "must", sameCauseAs: "other" }, true), "skipped");
});
