import { expect, test } from "vitest";
import { checkManifest } from "./check-manifests.ts";

const url = "git+https://example.invalid/it.git";
const sound = { keywords: ["a"], repository: { url, directory: "packages/a" } };

test("a manifest with keywords, its repository and its folder has no problem", () => {
  expect(checkManifest("packages/a", sound, url)).toEqual([]);
});

test.each([
  ["no keywords", { ...sound, keywords: [] }, "keywords"],
  ["another repository", { ...sound, repository: { url: "x", directory: "packages/a" } }, "url"],
  ["no repository", { keywords: ["a"] }, "url"],
  ["another folder", { ...sound, repository: { url, directory: "packages/b" } }, "directory"],
  ["a script of installing", { ...sound, scripts: { postinstall: "node x.js" } }, "postinstall"],
])("%s is reported", (_, manifest, problem) => {
  expect(checkManifest("packages/a", manifest, url).join("\n")).toContain(problem);
});
