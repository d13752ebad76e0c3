/** `compose.yaml`, read by its lines: the formatter's check refuses what is not YAML. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../workspace.ts";
import { temporalVersion } from "./programs.ts";

const text = readFileSync(join(root, "compose.yaml"), "utf8");

/** These end when they have done their work, so they have no health. */
const oneShot = ["temporal-schema", "temporal-namespace"];

test("compose.yaml has Redis, PostgreSQL, and Temporal with its pages, each of one fixed version", () => {
  const images = [...services()].map(([name, lines]) => `${name} ${imageOf(lines)}`);
  const server = temporalVersion.replaceAll(".", "\\.");
  const expected = [
    /^redis redis:7\.\d+\.\d+$/,
    /^postgres postgres:17\.\d+$/,
    new RegExp(`^temporal-schema temporalio/admin-tools:${server}$`),
    new RegExp(`^temporal temporalio/server:${server}$`),
    /^temporal-ui temporalio\/ui:2\.\d+\.\d+$/,
    new RegExp(`^temporal-namespace temporalio/admin-tools:${server}$`),
  ];

  expect(images).toHaveLength(expected.length);
  for (const [index, pattern] of expected.entries()) expect(images[index]).toMatch(pattern);
});

test("only this machine reaches the ports of compose.yaml", () => {
  const ports = text.split("\n").filter((line) => /^\s*ports:/.test(line));

  expect(ports).toHaveLength(4);
  for (const line of ports) expect(line).toMatch(/^    ports: \["127\.0\.0\.1:(\d+):\1"\]$/);
});

test("each server of compose.yaml has a check of its health", () => {
  const healthy = [...services()].filter(([, lines]) => lines.includes("    healthcheck:"));

  expect(healthy.map(([name]) => name)).toEqual(
    [...services().keys()].filter((name) => !oneShot.includes(name)),
  );
});

test("no password in compose.yaml has a default, and neither Temporal nor we are the superuser", () => {
  const passwords = text
    .split("\n")
    .flatMap((line) => /^\s+\w*(?:PASSWORD|PWD)\w*: (.*)$/.exec(line)?.[1] ?? []);

  expect(passwords).toHaveLength(6);
  for (const password of passwords)
    expect(password).toMatch(/^\$\{\w+_PASSWORD:\?set it in \.env\}$/);
  expect(passwords.filter((password) => password.includes("POSTGRES"))).toHaveLength(1); // the server's own
  expect(text).toContain("postgres://owner:$OWNER_PASSWORD@127.0.0.1:5432/sessions");
  expect(text).not.toMatch(/_USER: postgres/);
  for (const [, file = ""] of text.matchAll(/- (\.\/apps\/[^:]+):/g))
    expect(existsSync(join(root, file)), file).toBe(true);
});

test("the data of compose.yaml is in volumes that have names", () => {
  const used = [...text.matchAll(/(?:volumes: \["|^ {6}- )(\w+):/gm)].map(([, name]) => name);
  const declared = [...text.slice(text.indexOf("\nvolumes:\n")).matchAll(/^  (\w+):$/gm)];

  expect(used).toEqual(["redis", "postgres"]);
  expect(declared.map(([, name]) => name)).toEqual(used);
});

/** The lines of each service, by its name. */
function services(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const start = text.indexOf("\nservices:\n");
  let current: string[] = [];
  for (const line of text.slice(start, text.indexOf("\nvolumes:\n")).split("\n")) {
    const name = /^  ([\w-]+):$/.exec(line)?.[1];
    if (name !== undefined) found.set(name, (current = []));
    current.push(line);
  }
  return found;
}

/** The image of a service, or the one that is used unless a variable names another. */
function imageOf(lines: readonly string[]): string | undefined {
  const image = lines.find((line) => line.startsWith("    image: "))?.slice("    image: ".length);
  return /^\$\{\w+:-(.*)\}$/.exec(image ?? "")?.[1] ?? image;
}
