// Writes the package `a2a-conformance`, and the package of each platform with a program that was built before:
// node make_packages.mjs OUTPUT x86_64-unknown-linux-gnu=a2a-conformance …

import { chmod, copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const TARGETS = {
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "x64", libc: "glibc" },
  "aarch64-unknown-linux-gnu": { os: "linux", cpu: "arm64", libc: "glibc" },
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64" },
};
const LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"];
const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const workspace = join(here, "../../..");

const [output, ...programs] = process.argv.slice(2);
if (!output) throw new Error("cannot write the packages: no directory is given");
const [, version] = (await readFile(join(workspace, "Cargo.toml"), "utf8")).match(/\[workspace\.package\][^[]*?\nversion = "([^"]+)"/);
const about = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
const nameOf = ({ os, cpu }) => `@${about.name}/${os}-${cpu}`;

// All platforms, given here or not: they are published from several machines.
const optionalDependencies = Object.fromEntries(Object.values(TARGETS).map((platform) => [nameOf(platform), version]));
const main = await write({ ...about, version, optionalDependencies });
for (const file of ["README.md", "bin", "index.js", "index.d.ts", "program.js"]) {
  await cp(join(here, file), join(main, file), { recursive: true });
}
for (const pair of programs) {
  const [target, path] = pair.split("=");
  const platform = TARGETS[target];
  if (!platform || !path) throw new Error(`cannot write a package: ${pair} is not TARGET=PATH, with one of ${Object.keys(TARGETS)}`);
  const { license, repository } = about;
  const lists = Object.fromEntries(Object.entries(platform).map(([key, value]) => [key, [value]]));
  const description = `The program of ${about.name} for ${target}`;
  const folder = await write({ name: nameOf(platform), version, description, license, repository, ...lists });
  await copyFile(path, join(folder, "a2a-conformance"));
  await chmod(join(folder, "a2a-conformance"), 0o755);
}

async function write(manifest) {
  const folder = join(output, manifest.name.replace("@", "").replace("/", "-"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
  for (const license of LICENSES) await copyFile(join(workspace, license), join(folder, license));
  console.log(folder);
  return folder;
}
