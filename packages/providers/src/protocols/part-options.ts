import { expects, shown } from "@millrace/core/checks";
import { isJsonObject } from "@millrace/core/json";
import type { OptionChecks } from "@millrace/core/checks";
import type { Part } from "@millrace/core";
import type { PartOptions } from "@millrace/core/ports";
import { givenOptions } from "./given-options.ts";
import { RequestRefusal } from "./refusal.ts";

type OptionName = keyof PartOptions;

/** For each option: true if the vendor takes it for a part, else what to do instead. */
export type OptionRules = { readonly [Name in OptionName]-?: true | string };

/** Those of most vendors. */
export const usualRules: OptionRules = {
  detail: "it is for images: leave the option out",
  citations: "this API does not cite files: leave the option out, or ask Anthropic",
  cache: true,
  context: "this API has no field for it: write a text before the file",
};

/** The options of a part. Throws a `RequestRefusal` for one that the vendor does not take. */
export function optionsOf(part: Part, vendor: string, rules: OptionRules): PartOptions {
  const given = givenOptions(part);
  if (given === undefined) return {};
  const refuse = (name: string, value: unknown, instead: string): RequestRefusal =>
    new RequestRefusal(
      `${vendor} does not take the option ${name} (${shown(value)}) of ${nameOf(part)}: ${instead}`,
      { option: name, of: part },
    );
  if (!isJsonObject(given)) throw refuse("options", given, "use an object such as { detail: … }");
  for (const [name, value] of Object.entries(given)) {
    if (!isOption(name)) {
      throw refuse(name, value, `use ${Object.keys(checks).join(", ")}, or leave it out`);
    }
    const { accepts, fix } = checks[name];
    if (!accepts(value)) throw refuse(name, value, fix);
    const rule = rules[name];
    if (rule !== true) throw refuse(name, value, rule);
  }
  return given;
}

const checks: OptionChecks<PartOptions> = {
  detail: expects.oneOf("auto", "low", "high"),
  citations: expects.flag,
  cache: expects.flag,
  context: expects.text(),
};

function isOption(name: string): name is OptionName {
  return Object.hasOwn(checks, name);
}

function nameOf(part: Part): string {
  return part.kind === "file" ? `the file ${JSON.stringify(part.name.slice(0, 80))}` : part.kind;
}
