/** Comparison of two texts line by line. */

/** Returns for each line of `text` whether it also stands in `base`, in the same order (longest common subsequence). */
export function commonLines(base, text) {
  const [a, b] = [base.split("\n"), text.split("\n")];
  if (a.length * b.length > MAX_CELLS) {
    const known = new Set(a);
    return b.map((line) => known.has(line));
  }
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const common = new Array(b.length).fill(false);
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      common[j] = true;
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return common;
}

const MAX_CELLS = 4_000_000;
