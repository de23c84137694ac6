// Path of the program: A2A_CONFORMANCE, or the binary in the package of this platform.

import { createRequire } from "node:module";

const NAME = `@a2a-conformance/${process.platform}-${process.arch}`;

export function program() {
  if (process.env.A2A_CONFORMANCE) return process.env.A2A_CONFORMANCE;
  try {
    return createRequire(import.meta.url).resolve(`${NAME}/a2a-conformance`);
  } catch {
    throw new Error(`cannot run the suite: ${NAME} is not installed: install it, or name the program in A2A_CONFORMANCE`);
  }
}
