// What the creator reads and asks, what it refuses, and that it writes all of a project or nothing.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { create } from "../../apps/create-millrace/src/create.ts";
import { questionNames, questions } from "../../apps/create-millrace/src/choices.ts";
import { nodeProblem } from "../../apps/create-millrace/src/node-version.ts";
import { ownVersion } from "../../apps/create-millrace/src/project.ts";
import { Refusal } from "../../apps/create-millrace/src/refusal.ts";
import { writeProject } from "../../apps/create-millrace/src/write-project.ts";
import { temporaryFolder } from "../../scripts/temporary.ts";

/** Runs the creator in a folder, with the lines that a person types. Left out: there is no terminal. */
async function run(
  folder: string,
  words: readonly string[],
  typed?: readonly string[],
): Promise<string> {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: "utf8" });
  let printed = "";
  const rest = [...(typed ?? [])];
  output.on("data", (text: string) => {
    printed += text;
    if (!text.endsWith("]: ")) return;
    const line = rest.shift();
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  await create(words, { input, output, folder, isInteractive: typed !== undefined });
  return printed;
}

/** The answers, as the files of a project show them. */
function answersIn(project: string): readonly string[] {
  const read = (file: string): string => readFileSync(join(project, file), "utf8");
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const template = "build" in scripts ? "web" : "serve" in scripts ? "terminal" : "api";
  const vendor = /@millrace\/providers\/(\w+)/.exec(read("src/model.ts"))?.[1] ?? "none";
  const isOther = read("src/model.ts").includes("openaiCompatible");
  const run =
    "worker" in scripts
      ? "temporal"
      : read("src/services.ts").includes("redisLog")
        ? "services"
        : "local";
  const signIn = /apiKeys|jwt\(|"session"|Nobody/.exec(read("src/sign-in.ts"))?.[0] ?? "";
  const signIns = { apiKeys: "keys", "jwt(": "jwt", '"session"': "session", Nobody: "later" };
  return [template, isOther ? "compatible" : vendor, run, signIns[signIn as keyof typeof signIns]];
}

describe("answers", () => {
  test("flags answer all questions, and nothing is asked", async () => {
    using folder = temporaryFolder();
    const flags = [
      "--template",
      "api",
      "--vendor",
      "gemini",
      "--run",
      "temporal",
      "--sign-in",
      "jwt",
    ];
    const printed = await run(folder.path, ["shop", ...flags]);
    expect(answersIn(join(folder.path, "shop"))).toEqual(["api", "gemini", "temporal", "jwt"]);
    expect(printed).toContain("cd shop");
    expect(printed).not.toContain("?");
  });

  test("--yes takes the first choice of what no flag answers", async () => {
    using folder = temporaryFolder();
    await run(folder.path, ["--yes", "--vendor=openai"]);
    expect(answersIn(join(folder.path, "my-app"))).toEqual(["web", "openai", "local", "later"]);
  });

  test("a person answers by number, by name or with Enter, and is asked again after a slip", async () => {
    using folder = temporaryFolder();
    const printed = await run(folder.path, [], ["shop", "3", "vllm", "compatible", "", "4"]);
    expect(answersIn(join(folder.path, "shop"))).toEqual([
      "terminal",
      "compatible",
      "local",
      "session",
    ]);
    expect(printed).toContain('There is no "vllm" here');
  });

  test("only what no flag answers is asked", async () => {
    using folder = temporaryFolder();
    const printed = await run(
      folder.path,
      ["shop", "--template=web", "--run=services", "--sign-in=keys"],
      ["2"],
    );
    expect(answersIn(join(folder.path, "shop"))).toEqual(["web", "anthropic", "services", "keys"]);
    expect(printed.match(/\]: /g)).toHaveLength(1);
  });

  test("a person who leaves at any question leaves nothing behind", async () => {
    const lines = ["shop", "1", "1", "1", "1"];
    for (let count = 0; count < lines.length; count += 1) {
      using folder = temporaryFolder();
      const leaving = run(folder.path, [], lines.slice(0, count));
      await expect(leaving, `after ${count} answers`).rejects.toThrow("nothing was written");
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  test("--help names every choice, and --version is the version of the packages", async () => {
    using folder = temporaryFolder();
    const help = await run(folder.path, ["--help"]);
    for (const name of questionNames)
      for (const choice of questions[name].choices) expect(help).toContain(choice.name);
    expect(await run(folder.path, ["-v"])).toBe(`${ownVersion()}\n`);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe("refusals", () => {
  const refused: readonly (readonly [words: readonly string[], why: RegExp])[] = [
    [["a", "b", "--yes"], /one folder/],
    [["a", "--template", "mobile"], /--template can't be "mobile": choose web, api or terminal/],
    [["a", "--vendor="], /--vendor can't be ""/],
    [["a", "--nosuch"], /Unknown option '--nosuch'.*--help/],
    [["a", "--template"], /argument missing.*--help/],
    [["My App", "--yes"], /"My App" can't be the name of a package.*such as my-app/],
    [["node_modules", "--yes"], /can't be the name/],
    [["päckchen", "--yes"], /can't be the name/],
    [["full", "--yes"], /full is not empty: it has \.keep/],
    [["file", "--yes"], /file is a file/],
    [["a", "--run=local"], /no terminal to ask in: pass --template, --vendor, --sign-in, or --yes/],
    [[], /pass a folder, --template, --vendor, --run, --sign-in, or --yes/],
  ];
  test.for(refused)("%j is refused, and nothing is written", async ([words, why]) => {
    using folder = temporaryFolder({ "full/.keep": "mine", file: "mine" });
    const running = run(folder.path, words);
    await expect(running).rejects.toThrow(why);
    await expect(running).rejects.toBeInstanceOf(Refusal);
    expect(readdirSync(folder.path).toSorted()).toEqual(["file", "full"]);
    expect(readdirSync(join(folder.path, "full"))).toEqual([".keep"]);
  });

  test("a folder that can't be used is refused before the first question", async () => {
    using folder = temporaryFolder({ "full/.keep": "mine" });
    await expect(run(folder.path, ["full"], ["1", "1", "1", "1"])).rejects.toThrow(/not empty/);
  });
});

test("a Node that is too old is named, and one that is new enough is not", () => {
  expect(nodeProblem("20.20.2")).toBe("Node 22.19 or later is needed, and this is 20.20.2");
  expect(["22.18.0", "18.0.0"].every((version) => nodeProblem(version) !== undefined)).toBe(true);
  expect(["22.19.0", "24.0.0", "26.1.0"].some((version) => nodeProblem(version))).toBe(false);
});

describe("writing", () => {
  test("an empty folder that is there is used, also the one that the shell is in", async () => {
    using folder = temporaryFolder();
    const shop = join(folder.path, "shop");
    mkdirSync(shop);
    expect(await run(shop, [".", "--yes"])).not.toContain("cd ");
    expect(answersIn(shop)).toEqual(["web", "none", "local", "later"]);
    expect(readdirSync(folder.path)).toEqual(["shop"]);
  });

  test("a write that fails leaves nothing, wherever it fails", () => {
    const files = ["a", "b/c", "d"];
    for (let at = 0; at <= files.length; at += 1) {
      using folder = temporaryFolder();
      const bad = "x".repeat(300); // no file system has such a name
      const project = new Map(
        [...files.slice(0, at), bad, ...files.slice(at)].map((f) => [f, "text"]),
      );
      expect(() => writeProject(join(folder.path, "shop"), project)).toThrow("ENAMETOOLONG");
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  test("a file that comes between the question and the writing is not overwritten", async () => {
    using folder = temporaryFolder();
    const shop = join(folder.path, "shop");
    const input = new PassThrough();
    const output = new PassThrough({ encoding: "utf8" });
    output.on("data", (text: string) => {
      if (!text.endsWith("]: ")) return;
      mkdirSync(shop);
      writeFileSync(join(shop, "README.md"), "mine");
      input.write("\n");
    });
    const words = ["shop", "--template=web", "--vendor=none", "--sign-in=later"];
    const running = create(words, { input, output, folder: folder.path, isInteractive: true });
    await expect(running).rejects.toThrow(/not empty/);
    expect(readFileSync(join(shop, "README.md"), "utf8")).toBe("mine");
    expect(existsSync(join(shop, "package.json"))).toBe(false);
  });
});
