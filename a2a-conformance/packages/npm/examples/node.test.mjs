import { test } from "node:test";
import { checks } from "a2a-conformance";

await checks(test, { exec: process.env.AGENT ?? "node agent.mjs {port}", versions: ["1.0"] });
