import { expect, test } from "vitest";

import { isServerName, nameTools } from "./tool-names.ts";

test("a name that is right as it is stays, and one that had to be changed gives way", async () => {
  const named = await nameTools("srv", ["get.user", "get_user", "list.all"]);

  expect(named[0]).toHaveProperty("name", expect.stringMatching(/^srv_get_user_[0-9a-f]{8}$/));
  expect(named.slice(1)).toEqual([
    { tool: "get_user", name: "srv_get_user" },
    { tool: "list.all", name: "srv_list_all" },
  ]);
});

test("names of 64 characters stay, and of 65 end in a hash", async () => {
  const [fits, long] = await nameTools("srv", ["x".repeat(60), "y".repeat(61)]);

  expect(fits).toEqual({ tool: "x".repeat(60), name: `srv_${"x".repeat(60)}` });
  expect(long).toHaveProperty("name", expect.stringMatching(/^srv_y{51}_[0-9a-f]{8}$/));
});

test("a tool that is called as another's hash says doesn't get its place", async () => {
  const [, second] = await nameTools("srv", ["a.b", "a/b"]);
  const taken = "name" in (second ?? {}) ? (second as { name: string }).name : "";

  const named = await nameTools("srv", ["a.b", "a/b", taken.slice("srv_".length)]);

  expect(named[1]).toEqual({ tool: "a/b", reason: "another tool has the name that it would get" });
  expect(named[2]).toMatchObject({ name: taken });
});

test("server names have no underscore", () => {
  expect(["a", "my-server", "A1"].every(isServerName)).toBe(true);
  expect(["", "a_b", "-a", "a b", "ä", "x".repeat(33)].some(isServerName)).toBe(false);
});
