export interface Options {
  /** URL of the agent; or `exec`. */
  url?: string;
  /** Command that starts the agent at `{port}`. */
  exec?: string;
  /** `false` for an agent that keeps the behaviour contract; `true` by default. */
  blackBox?: boolean;
  versions?: ("0.1" | "0.2" | "0.3" | "1.0")[];
  bindings?: ("jsonrpc" | "http-json" | "grpc")[];
  /** Time limit of a response, in seconds. */
  timeout?: number;
  /** Path of a file of waivers. */
  waivers?: string;
  /** Fail for SHOULD, too. */
  strict?: boolean;
  /** Further options of `a2a-conformance agent`. */
  args?: string[];
}

export interface Check {
  id: string;
  /** Id, protocol version and binding. */
  name: string;
  level: "must" | "should" | "may";
  verdict: string;
  version?: string;
  binding?: string;
  outcome: "passed" | "failed" | "skipped";
  /** Reason, requirement, difference and a command that repeats the request; empty if it passed. */
  message: string;
}

export function run(options: Options): Promise<Check[]>;
export function checks(test: (name: string, body: (context: any) => void) => unknown, options: Options): Promise<void>;
export function outcome(check: { verdict: string; level: string; sameCauseAs?: string }, strict: boolean): Check["outcome"];
