import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Model } from "@millrace/core";
import { scriptedModel } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { demoModel } from "./demo-model.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Which model was chosen, and by what it is made. */
export type ModelChoice =
  | { readonly kind: "demo" }
  | { readonly kind: "scripted"; readonly file: string }
  | {
      readonly kind: "vendor";
      readonly vendor: Vendor;
      readonly name: string;
      readonly baseUrl: string | undefined;
    }
  | { readonly kind: "problem"; readonly problem: string };

export type Vendor = keyof typeof vendors;

/** The variables are those of the vendors' own libraries. */
const vendors = {
  anthropic: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL" },
  openai: { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL" },
  gemini: { key: "GEMINI_API_KEY", address: "GEMINI_BASE_URL" },
} as const;

const fallback = "anthropic/claude-sonnet-5";

/** Reads `provider/model`, `scripted:<file>` or `demo`, and whether the key for it is there. */
export function chooseModel(option: string | undefined, env: Env): ModelChoice {
  const wanted = option ?? (env["MILLRACE_MODEL"] || fallback);
  if (wanted === "demo") return { kind: "demo" };
  if (wanted.startsWith("scripted:")) {
    const file = wanted.slice("scripted:".length);
    return file === ""
      ? problem("say which file: --model scripted:<file>")
      : { kind: "scripted", file };
  }
  const slash = wanted.indexOf("/");
  const known = Object.keys(vendors).find((name) => name === wanted.slice(0, slash));
  const name = wanted.slice(slash + 1);
  if (slash < 1 || known === undefined || name === "") {
    return problem(
      `there is no model ${JSON.stringify(wanted)}: say anthropic/<name>, openai/<name>, gemini/<name>, scripted:<file> or demo`,
    );
  }
  const vendor = known as Vendor; // one of the keys, as was just looked up
  const { key, address } = vendors[vendor];
  if (!env[key]) {
    return problem(
      `there is no key for ${wanted}: set ${key}.\nTo try it without a key: millrace chat --model demo`,
    );
  }
  return { kind: "vendor", vendor, name, baseUrl: env[address] || undefined };
}

function problem(text: string): ModelChoice {
  return { kind: "problem", problem: text };
}

/** Makes the model. Only what is needed is loaded. Throws what a scripted module throws. */
export async function createModel(
  choice: Exclude<ModelChoice, { readonly kind: "problem" }>,
): Promise<Model> {
  if (choice.kind === "demo") return demoModel();
  if (choice.kind === "scripted") return await loadScripted(choice.file);
  const { vendor, name, baseUrl } = choice;
  switch (vendor) {
    case "anthropic":
      return (await import("@millrace/providers/anthropic")).anthropic(name, { baseUrl });
    case "openai":
      return (await import("@millrace/providers/openai")).openai(name, { baseUrl });
    case "gemini":
      return (await import("@millrace/providers/gemini")).gemini(name, { baseUrl });
    default:
      vendor satisfies never;
      throw new Error(`no model is made for ${String(vendor)}`);
  }
}

/** A module exports `model`, a Model; or `replies`, a script, and maybe `delayMs` before each piece. */
async function loadScripted(file: string): Promise<Model> {
  // A module may export anything; what is looked at is checked below.
  const module = (await import(pathToFileURL(resolve(file)).href)) as {
    readonly model?: Model;
    readonly replies?: readonly ScriptedReply[];
    readonly delayMs?: number;
  };
  if (typeof module.model?.stream === "function") return module.model;
  if (Array.isArray(module.replies))
    return scriptedModel(module.replies, { delayMs: module.delayMs });
  throw new Error(`${file} exports neither a model nor replies`);
}
