import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { PolicyRule } from "./settings.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { checkRules, isPolicy, ruleFor, strictest } from "./policy.ts";
import type { Policy } from "./tool.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const policy = fc.constantFrom<Policy>("allow", "ask", "deny");

describe("the strictest policy", () => {
  it.each<[Policy[], Policy]>([
    [[], "allow"],
    [["allow"], "allow"],
    [["allow", "ask"], "ask"],
    [["ask", "allow"], "ask"],
    [["ask", "deny", "allow"], "deny"],
    [["deny", "ask"], "deny"],
  ])("of %j is %s", (policies, expected) => {
    expect(strictest(policies)).toBe(expected);
  });

  it("is one of those given, does not depend on their order, and is never weakened by one more", () => {
    fc.assert(
      fc.property(fc.array(policy, { minLength: 1 }), policy, (policies, more) => {
        const chosen = strictest(policies);
        expect(policies).toContain(chosen);
        expect(strictest(policies.toReversed())).toBe(chosen);
        expect(strictest([strictest([...policies, more]), chosen])).toBe(
          strictest([...policies, more]),
        );
      }),
      { numRuns: runs(2_000, 200_000) },
    );
  });
});

describe("a rule", () => {
  const rules = (...tools: string[]): PolicyRule[] =>
    tools.map((tool) => ({ tool, policy: "deny" }));

  it.each([
    ["bash", "bash", true],
    ["bash", "bash2", false],
    ["bash", "Bash", false],
    ["bash", "bash ", false],
    ["git_*", "git_push", true],
    ["git_*", "git_", true],
    ["git_*", "git", false],
    ["git_*", "Git_push", false],
    ["*", "anything", true],
  ])("for %s covers %s: %s", (rule, tool, covered) => {
    expect(ruleFor(rules(rule), tool)).toBe(covered ? "deny" : "allow");
  });

  it("does not win by being first: the strictest of all that match does", () => {
    const both: PolicyRule[] = [
      { tool: "git_push", policy: "allow" },
      { tool: "git_*", policy: "ask" },
      { tool: "*", policy: "allow" },
    ];

    expect(ruleFor(both, "git_push")).toBe("ask");
    expect(ruleFor(both, "ls")).toBe("allow");
  });

  it.each(["", " ", "**", "*a", "a*b", "a b", "git_* ", "ба*", "a\n", "x".repeat(65)])(
    "whose pattern is %j is refused",
    (tool) => {
      expect(() => checkRules([{ tool, policy: "ask" }])).toThrow(
        expect.objectContaining({ code: "invalid_definition" }),
      );
    },
  );

  it.each(["Deny", "", undefined, true])("with the policy %j is refused", (policy) => {
    const rule = { tool: "a", policy } as PolicyRule;

    expect(() => checkRules([rule])).toThrow(
      expect.objectContaining({ code: "invalid_definition" }),
    );
  });

  it("with a sound pattern and policy is taken", () => {
    expect(() =>
      checkRules([
        { tool: "*", policy: "ask" },
        { tool: "git_*", policy: "deny" },
        { tool: "a-B_9", policy: "allow" },
      ]),
    ).not.toThrow();
  });
});

it("a policy is one of three words and nothing that looks like one", () => {
  const values = [
    "allow",
    "ask",
    "deny",
    "ALLOW",
    "allow ",
    true,
    1,
    null,
    undefined,
    {},
    "toString",
  ];

  expect(values.filter(isPolicy)).toStrictEqual(["allow", "ask", "deny"]);
});
