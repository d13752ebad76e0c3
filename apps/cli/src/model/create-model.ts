import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Model } from "@millrace/core";
import { scriptedModel } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import type { ModelChoice } from "./choose-model.ts";
import { demoModel } from "./demo-model.ts";

/** Makes the model. Only what is needed is loaded. Throws what a scripted module throws. */
export async function createModel(
  choice: Exclude<ModelChoice, { readonly kind: "problem" }>,
): Promise<Model> {
  switch (choice.kind) {
    case "demo":
      return demoModel();
    case "scripted":
      return await loadScripted(choice.file);
    case "server": {
      const { openaiCompatible } = await import("@millrace/providers/openai");
      const { model, baseUrl, apiKey } = choice;
      // The user has named the address, and no key goes there in plain text: see `chooseModel`.
      return openaiCompatible(model, { baseUrl, apiKey, allowPlain: true });
    }
    case "vendor":
      return await vendorModel(choice);
    default:
      choice satisfies never;
      throw new Error("no model is made for this choice");
  }
}

async function vendorModel({
  vendor,
  model,
  baseUrl,
}: Extract<ModelChoice, { readonly kind: "vendor" }>): Promise<Model> {
  switch (vendor) {
    case "anthropic":
      return (await import("@millrace/providers/anthropic")).anthropic(model, { baseUrl });
    case "openai":
      return (await import("@millrace/providers/openai")).openai(model, { baseUrl });
    case "gemini":
      return (await import("@millrace/providers/gemini")).gemini(model, { baseUrl });
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
  throw new Error("it exports neither a model nor replies");
}
