/** Colours for code: comments, strings, numbers and words that most languages reserve. */

import { h } from "./dom.js";

/** Returns nodes for a program text. Large texts stay plain. */
export function highlight(text, language) {
  if (text.length > MAX_LENGTH || PLAIN.has(language.toLowerCase())) return [text];
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(HASH.has(language.toLowerCase()) ? TOKENS_HASH : TOKENS)) {
    const kind = Object.entries(found.groups).find(([, value]) => value !== undefined)[0];
    if (kind === "word" && !WORDS.has(found[0])) continue;
    if (found.index > last) nodes.push(text.slice(last, found.index));
    nodes.push(h("span", { class: `token-${kind}` }, found[0]));
    last = found.index + found[0].length;
  }
  if (last < text.length) nodes.push(text.slice(last));
  return nodes;
}

const STRINGS = String.raw`(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|${"`"}(?:[^${"`"}\\]|\\.)*${"`"})`;
const REST = String.raw`(?<number>\b0x[\da-fA-F]+\b|\b\d[\d_]*(?:\.\d+)?\b)|(?<word>\b[A-Za-z_]\w*\b)`;
const TOKENS = new RegExp(
  String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|--[ ][^\n]*)|${STRINGS}|${REST}`,
  "g",
);
const TOKENS_HASH = new RegExp(String.raw`(?<comment>#[^\n]*)|${STRINGS}|${REST}`, "g");
const HASH = new Set([
  "python",
  "py",
  "sh",
  "bash",
  "shell",
  "zsh",
  "yaml",
  "yml",
  "toml",
  "ruby",
  "rb",
  "dockerfile",
  "make",
]);
const PLAIN = new Set(["text", "txt", "plain", "console", "diff"]);
const WORDS = new Set(
  (
    "async await break case catch class const continue def default defer do elif else enum except export extends false final finally fn for from func " +
    "function go if impl import in interface is lambda let loop match mod module mut new nil None not null or pass pub return select self Self static struct super switch " +
    "this throw trait true True False try type undefined use var void where while with yield package SELECT FROM WHERE INSERT INTO VALUES UPDATE CREATE TABLE JOIN ON AND OR"
  ).split(" "),
);
const MAX_LENGTH = 100_000;
