// What every combination of answers has in common, and where its versions are from.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { pins } from "../../apps/create-millrace/src/pins.ts";
import { ownVersion } from "../../apps/create-millrace/src/project.ts";
import { root } from "../../scripts/workspace.ts";
import { allProjects } from "./kit/all-projects.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const projects = allProjects();

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly build?: string;
        readonly env_file?: readonly string[];
        readonly environment?: Readonly<Record<string, string>>;
      }
    >
  >;
  readonly volumes?: object;
}

test("there are 180 combinations, and each has all that a project has", () => {
  expect(projects).toHaveLength(180);
  for (const { name, files } of projects) {
    const expected = ["README.md", "AGENTS.md", "Dockerfile", "compose.yaml", "package.json"];
    expected.push("tsconfig.json", ".env", ".env.example", ".gitignore", ".dockerignore");
    expected.push("src/agent.ts", "src/model.ts", "src/services.ts", "test/agent.test.ts");
    for (const file of expected) expect(files.get(file), `${name}: ${file}`).toMatch(/\n$/);
    for (const [file, text] of files)
      expect(text, `${name}: ${file}`).not.toContain("millrace-app");
    expect(files.get(".gitignore")).toMatch(/^\.env$/m);
    expect(files.get("README.md")).toContain(`# ${name}\n`);
  }
});

test("a project's packages are of the creator's version, and all else is what this repository is tested with", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as Lock;
  const locked = Object.keys(pins).map((name) => [name, packages[`node_modules/${name}`]?.version]);
  expect(Object.fromEntries(locked)).toEqual(pins);
  for (const folder of ["core", "agent", "client", "providers", "server", "stores", "temporal"])
    expect(packages[`packages/${folder}`]?.version, folder).toBe(ownVersion());
});

test("a project's dependencies are those that its files import", () => {
  for (const { name, files } of projects) {
    const { dependencies, devDependencies } = JSON.parse(files.get("package.json") ?? "") as Record<
      "dependencies" | "devDependencies",
      Record<string, string>
    >;
    const code = [...files].filter(([file]) => /\.tsx?$/.test(file)).map(([, text]) => text);
    const imported = code.flatMap((text) =>
      [...text.matchAll(/(?:from |import\()"((?:@[\w-]+\/)?[\w-]+)[^"]*"/g)].map(
        ([, found = ""]) => found,
      ),
    );
    const outside = [...new Set(imported)].filter((found) => found !== "node").toSorted();
    const given = [...Object.keys(dependencies), ...Object.keys(devDependencies)];
    expect(given, name).toEqual(expect.arrayContaining(outside));
    // Our packages load these themselves; Temporal's are its peers; the rest are compilers and types.
    const others = given.filter(
      (each) => !/^(@types|@temporalio)\/|^(typescript|pg|@redis\/client)$/.test(each),
    );
    expect(others.toSorted(), name).toEqual(outside);
  }
});

test("Node 22 reads every file as it is: no project has a `using` declaration", () => {
  for (const { name, files } of projects)
    for (const [file, text] of files) {
      if (!/\.tsx?$/.test(file)) continue;
      expect(text, `${name}: ${file}`).not.toMatch(/^\s*(?:await )?using \w/m);
    }
});

test("compose files are sound, and have the images of this repository's own", () => {
  const own = parse(read("compose.yaml")) as Compose;
  const images = Object.values(own.services).map(({ image }) => image);
  images.push("redis:7.4.5"); // ours is a variable with this default
  expect(read("compose.yaml")).toContain("REDIS_IMAGE:-redis:7.4.5}");
  for (const { name, answers, files } of projects) {
    const { services } = parse(files.get("compose.yaml") ?? "", { merge: true }) as Compose;
    const others = Object.values(services).flatMap(({ image }) => image ?? []);
    expect(services["app"]?.build, name).toBe(".");
    expect(images, name).toEqual(expect.arrayContaining(others));
    const needed = { local: 0, services: 2, temporal: 6 }[answers.run];
    expect(others, name).toHaveLength(needed);
  }
});

test("no password has a default: those of a new project are random, in files that are not committed", () => {
  const secrets = /^(\w*(?:_SECRET|PASSWORD|PWD))=(.*)$/gm;
  const seen = new Set<string>();
  for (const { name, answers, files } of projects) {
    const compose = files.get("compose.yaml") ?? "";
    expect(compose, name).not.toMatch(/PASSWORD:-|millrace@/);
    expect(files.get(".gitignore"), name).toMatch(/^\.env\n\.env\.\*\n!\.env\*\.example$/m);
    expect(files.get(".dockerignore"), name).toMatch(/^\.env\n\.env\.\*$/m);
    for (const [path, text] of files) {
      if (!path.startsWith(".env")) continue;
      const values = [...text.matchAll(secrets)].map(([, , value = ""]) => value);
      if (path.endsWith(".example")) {
        for (const value of values) expect(value, path).toMatch(/^(<\w+>)?$/);
        continue;
      }
      for (const value of new Set(values)) {
        expect(value, path).toMatch(/^[0-9a-f]{64}$/);
        expect(seen.has(value)).toBe(false);
        seen.add(value);
      }
      expect(text, path).not.toMatch(/<[A-Z_]+>/);
    }
    if (answers.run === "local") continue;
    // The app has its own password, and neither the owner's nor the superuser's.
    const { services } = parse(compose, { merge: true }) as Compose;
    expect(services["app"]?.env_file, name).toEqual([".env"]);
    expect(services["app"]?.environment?.["DATABASE_URL"]).toMatch(/^postgres:\/\/app:\$\{APP_/);
    expect(files.get(".env"), name).not.toMatch(/OWNER|^POSTGRES/m);
    expect(files.get(".env.owner"), name).toMatch(/^OWNER_URL=postgres:\/\/owner:[0-9a-f]{64}@/m);
    expect(compose.match(/POSTGRES_USER: (?!temporal)|SQL_USER: (?!temporal)/g)).toBe(null);
  }
});

test("images are built in stages, run as no root, and have the Node of this repository", () => {
  const { devDependencies } = JSON.parse(read("package.json")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  for (const { files } of projects) {
    const dockerfile = files.get("Dockerfile") ?? "";
    const stages = dockerfile.match(/^FROM .*$/gm) ?? [];
    expect(stages).toHaveLength(3);
    for (const stage of stages) expect(stage).toContain(`node:${devDependencies["node"]}-slim`);
    expect(dockerfile.lastIndexOf("\nUSER node\n")).toBeGreaterThan(
      dockerfile.lastIndexOf("\nFROM"),
    );
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    expect(dockerfile).toMatch(/^CMD \["node", "src\/server\.ts"\]$/m); // not npm, which would keep SIGTERM
  }
});

test("a README names only scripts that the project has", () => {
  for (const { name, files } of projects) {
    const { scripts } = JSON.parse(files.get("package.json") ?? "") as { scripts: object };
    const text = `${files.get("README.md")}${files.get("AGENTS.md")}`;
    const named = [...text.matchAll(/npm (?:run (\w+)|(test|start))/g)].map(
      ([, a, b]) => a ?? b ?? "",
    );
    for (const script of named)
      expect(Object.keys(scripts), `${name}: ${script}`).toContain(script);
    const places = [...text.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, file]) => file ?? "");
    for (const file of places.filter((each) => each !== "src/page"))
      expect([...files.keys()], name).toContain(file);
  }
});
