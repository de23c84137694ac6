/** The log of exchanges, as the page knows it. */

import { onChange, reloadNeeded } from "./changes.js";
import { perFrame } from "./dom.js";
import { del, get, query } from "./requests.js";
import { Topic } from "./topic.js";

/** Published, at most once a frame, when exchanges were added, changed or removed. */
export const exchangesChanged = new Topic();

let exchanges = [];
let dropped = 0;
let bytes = 0;

const publish = perFrame(() => exchangesChanged.publish());

/** Returns all exchanges by their numbers, ascending. */
export const allExchanges = () => exchanges;

/** Returns how many exchanges the server has dropped, and the bytes that it holds. */
export const logSize = () => ({ dropped, bytes });

/** Returns the exchange of that number, by binary search. */
export function exchangeByNumber(number) {
  const at = positionOf(number);
  return exchanges[at]?.number === number ? exchanges[at] : undefined;
}

/** Reads the log as soon as its changes are followed. */
export function startExchanges() {
  onChange("exchange", (summary) => {
    put(summary);
    publish();
  });
  reloadNeeded.subscribe(loadExchanges);
}

/** Reads the whole log, page by page. */
async function loadExchanges() {
  let after = 0;
  const loaded = [];
  for (;;) {
    const page = await get(`exchanges${query({ after, limit: PAGE })}`);
    ({ dropped = 0, bytes = 0 } = page);
    loaded.push(...page.exchanges);
    if (page.exchanges.length < PAGE) break;
    after = page.exchanges.at(-1).number;
  }
  const last = loaded.at(-1)?.number ?? 0;
  exchanges = loaded.concat(exchanges.filter(({ number }) => number > last)).slice(-MAX_EXCHANGES);
  publish();
}

/** Empties the log of the server. */
export async function clearExchanges() {
  await del("exchanges");
  exchanges = [];
  publish();
}

function put(summary) {
  const at = positionOf(summary.number);
  if (exchanges[at]?.number === summary.number) exchanges[at] = summary;
  else exchanges.splice(at, 0, summary);
  if (exchanges.length > MAX_EXCHANGES) {
    exchanges.shift();
    dropped += 1;
  }
}

/** Returns where a number is or belongs; numbers mostly grow. */
function positionOf(number) {
  if (exchanges.length === 0 || exchanges.at(-1).number < number) return exchanges.length;
  let [low, high] = [0, exchanges.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (exchanges[middle].number < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

const PAGE = 2000;
const MAX_EXCHANGES = 10_000;
