/** Runs of the conformance suite as data: verdicts, scores, and checks by area. */

/** Verdicts, the worst first: name in files → name for people, sign, severity (0 is as required), tone. */
export const VERDICTS = new Map([
  ["fail", { words: "not met", sign: "✗", severity: 3, tone: "bad" }],
  ["untestable", { words: "untestable", sign: "?", severity: 3, tone: "bad" }],
  ["setup-failed", { words: "setup failed", sign: "✗", severity: 3, tone: "bad" }],
  ["harness-error", { words: "suite at fault", sign: "⚠", severity: 3, tone: "bad" }],
  ["flaky", { words: "flaky", sign: "~", severity: 2, tone: "fair" }],
  ["waived", { words: "waived", sign: "○", severity: 3, tone: "fair" }],
  ["warn", { words: "not as advised", sign: "!", severity: 1, tone: "fair" }],
  ["note", { words: "noted", sign: "·", severity: 0, tone: "plain" }],
  ["pass-lenient", { words: "met leniently", sign: "✓", severity: 0, tone: "good" }],
  ["pass", { words: "met", sign: "✓", severity: 0, tone: "good" }],
  ["not-applicable", { words: "not tested", sign: "–", severity: 0, tone: "plain" }],
]);

/** Returns the row of a verdict. */
export function verdictOf(name) {
  return VERDICTS.get(name) ?? { words: String(name), sign: "?", severity: 3, tone: "bad" };
}

/** Returns where a check was made, like `1.0 JSONRPC`. */
export function columnOf({ protocolVersion, binding }) {
  return [protocolVersion, binding].filter(Boolean).join(" ") || "every version";
}

/** Returns the area of a check: its id up to the first dot. */
function areaOf(id) {
  return id.split(".")[0];
}

/** Groups the results of a check in all versions and bindings: `[{id, title, area, level, verdict, cells}]`, what is not met first, then by id. */
export function groupChecks(checks) {
  const rows = new Map();
  for (const check of checks) {
    const row = rows.get(check.id) ?? {
      id: check.id,
      title: check.title,
      area: areaOf(check.id),
      level: check.level,
      cells: [],
    };
    row.cells.push(check);
    rows.set(check.id, row);
  }
  const order = [...VERDICTS.keys()];
  for (const row of rows.values()) {
    row.verdict = row.cells.map(({ verdict }) => verdict).sort((a, b) => order.indexOf(a) - order.indexOf(b))[0];
    row.level = row.cells.map(({ level }) => level).sort((a, b) => LEVELS.indexOf(a) - LEVELS.indexOf(b))[0];
  }
  const rank = ({ verdict }) => (verdict === "not-applicable" ? 1 : -verdictOf(verdict).severity);
  return [...rows.values()].sort((a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id));
}

/** Returns how many checks are met, of the scored ones, for each column: `[{column, must, should, notApplicable}]`. */
export function scores(checks) {
  const columns = new Map();
  for (const check of checks) {
    const column = columnOf(check);
    const score = columns.get(column) ?? {
      column,
      must: { met: 0, scored: 0 },
      should: { met: 0, scored: 0 },
      notApplicable: 0,
    };
    columns.set(column, score);
    if (check.verdict === "not-applicable") score.notApplicable += 1;
    if (check.sameCauseAs || UNSCORED.has(check.verdict)) continue;
    const part = check.level === "must" ? score.must : score.should;
    part.scored += 1;
    if (MET.has(check.verdict)) part.met += 1;
  }
  return [...columns.values()].sort(
    (a, b) => (a.column === "every version") - (b.column === "every version") || b.column.localeCompare(a.column),
  );
}

/** Returns a sentence about a run. */
export function conclusion(checks, state) {
  const counted = checks.filter(({ sameCauseAs }) => !sameCauseAs);
  const unmet = counted.filter(({ verdict }) =>
    ["fail", "untestable", "setup-failed", "flaky"].includes(verdict),
  ).length;
  const advised = counted.filter(({ verdict }) => verdict === "warn").length;
  const broken = counted.filter(({ verdict }) => verdict === "harness-error").length;
  const untested = checks.filter(({ verdict }) => verdict === "not-applicable").length;
  const are = (number) => (number === 1 ? "1 check is" : `${number} checks are`);
  const were = (number) => (number === 1 ? "1 check was" : `${number} checks were`);
  const parts = [
    unmet > 0
      ? `${are(unmet)} not met.`
      : checks.length > 0
        ? "Everything that is required and was tested is met."
        : "Nothing was checked.",
    advised > 0 && `Of what is only advised, ${are(advised)} not met.`,
    untested > 0 && `${were(untested)} not tested.`,
    broken > 0 && `In ${broken} the suite itself did not work.`,
  ];
  const begin = { interrupted: "Interrupted. ", running: "So far: " }[state] ?? "";
  return {
    tone: unmet > 0 ? "bad" : checks.length > 0 ? "good" : "plain",
    text: begin + parts.filter(Boolean).join(" "),
  };
}

/** Returns a recorded request as a curl command. */
export function curlOf({ start, headers = [], body = "" }) {
  const [method, url] = start.split(" ");
  const quote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
  const lines = [
    `curl -sS -X ${method} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
  ];
  if (body) lines.push(`--data-binary ${quote(body)}`);
  return lines.join(" \\\n  ");
}

const LEVELS = ["must", "should", "may"];
const MET = new Set(["pass", "pass-lenient", "note"]);
const UNSCORED = new Set(["not-applicable", "note", "harness-error"]);
