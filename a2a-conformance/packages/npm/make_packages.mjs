// Writes the packages of a platform with the programs that were built before, and with `main` the packages that depend
// on the packages of all platforms:
// node make_packages.mjs OUTPUT [main] [x86_64-unknown-linux-gnu=DIRECTORY]…

import { chmod, copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"];
const PROJECTS = [
  { folder: ".", program: "a2a-conformance", files: ["README.md", "bin", "index.js", "index.d.ts"] },
  { folder: "cli", program: "a2a", files: ["README.md", "bin"] },
];
const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const workspace = join(here, "../../..");
const targets = JSON.parse(await readFile(join(here, "../targets.json"), "utf8"));

const [output, ...words] = process.argv.slice(2);
const pairs = words.filter((word) => word !== "main");
if (!output) throw new Error("cannot write the packages: no directory is given");
const [, version] = (await readFile(join(workspace, "Cargo.toml"), "utf8")).match(/\[workspace\.package\][^[]*?\nversion = "([^"]+)"/);
const built = pairs.map((pair) => {
  const [target, directory] = pair.split("=");
  const known = targets.find((row) => row.target === target);
  if (!known || !directory) throw new Error(`cannot write a package: ${pair} is not TARGET=DIRECTORY, with one of ${targets.map((row) => row.target)}`);
  // Programs that link glibc are not published. Tests use them in place of the static ones.
  const { npm } = known.npm ? known : targets.find((row) => row.target === target.replace("-gnu", "-musl"));
  return { target, directory, npm };
});

for (const { folder, program, files } of PROJECTS) {
  const about = JSON.parse(await readFile(join(here, folder, "package.json"), "utf8"));
  const nameOf = ({ os, cpu }) => `@${about.name}/${os}-${cpu}`;
  if (words.includes("main")) {
    const platforms = targets.flatMap(({ npm }) => npm ?? []);
    const optionalDependencies = Object.fromEntries(platforms.map((platform) => [nameOf(platform), version]));
    const main = await write({ ...about, version, optionalDependencies });
    for (const file of files) await cp(join(here, folder, file), join(main, file), { recursive: true });
    await copyFile(join(here, "program.js"), join(main, "program.js"));
  }
  for (const { target, directory, npm } of built) {
    const file = npm.os === "win32" ? `${program}.exe` : program;
    const { license, repository } = about;
    const lists = Object.fromEntries(Object.entries(npm).map(([key, value]) => [key, [value]]));
    const description = `The program of ${about.name} for ${target}`;
    const platform = await write({ name: nameOf(npm), version, description, license, repository, ...lists });
    await copyFile(join(directory, file), join(platform, file));
    await chmod(join(platform, file), 0o755);
  }
}

async function write(manifest) {
  const folder = join(output, manifest.name.replace("@", "").replace("/", "-"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
  for (const license of LICENSES) await copyFile(join(workspace, license), join(folder, license));
  console.log(folder);
  return folder;
}
