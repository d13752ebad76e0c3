import { MillraceError } from "@millrace/core";
import type { PolicyRule } from "./settings.ts";
import type { Policy } from "./tool.ts";

const strictness: Readonly<Record<Policy, number>> = { allow: 0, ask: 1, deny: 2 };

/** A tool's name, or a prefix of names with a star after it. A star alone matches every tool. */
const pattern = /^(?:[A-Za-z0-9_.:/-]{1,64}\*?|\*)$/;

/** True for one of the three policies and nothing else. */
export function isPolicy(value: unknown): value is Policy {
  return value === "allow" || value === "ask" || value === "deny";
}

/** The strictest of several policies: deny, then ask, then allow. An empty list allows. */
export function strictest(policies: readonly Policy[]): Policy {
  let chosen: Policy = "allow";
  for (const policy of policies) if (strictness[policy] > strictness[chosen]) chosen = policy;
  return chosen;
}

/**
 * The policy of the rules for a tool: the strictest of those that match its name, exactly or by the
 * prefix before a star. A tool that no rule matches is allowed.
 */
export function ruleFor(rules: readonly PolicyRule[], toolName: string): Policy {
  return strictest(rules.filter(({ tool }) => names(tool, toolName)).map(({ policy }) => policy));
}

function names(rule: string, toolName: string): boolean {
  return rule.endsWith("*") ? toolName.startsWith(rule.slice(0, -1)) : rule === toolName;
}

/** Throws `invalid_definition` for a rule that could never match, or whose policy is unknown. */
export function checkRules(rules: readonly PolicyRule[]): void {
  for (const { tool, policy } of rules) {
    if (typeof tool !== "string" || !pattern.test(tool)) {
      throw new MillraceError(
        "invalid_definition",
        `a rule names a tool, or the beginning of its name and "*" after it, not ${JSON.stringify(tool)}`,
      );
    }
    // A caller without types may pass anything.
    if (!isPolicy(policy)) {
      throw new MillraceError(
        "invalid_definition",
        `the rule for ${tool} says "allow", "ask" or "deny", not ${JSON.stringify(policy)}`,
      );
    }
  }
}
