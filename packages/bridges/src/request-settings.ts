import { MillraceError } from "@millrace/core";
import type { Json } from "@millrace/core";
import type { RequestSettings } from "@millrace/core/ports";
import { fieldsOf, plain } from "./read.ts";
import type { Fields } from "./read.ts";

/** The settings of a call of the AI SDK. Throws for those that have no name here. */
export function aiSdkRequestSettings(options: Fields): RequestSettings {
  refuse(options, ["topK", "presencePenalty", "frequencyPenalty"], "providerOptions.millrace");
  const { type = "auto", toolName } = fieldsOf(options["toolChoice"]);
  const effort = options["reasoning"] === "provider-default" ? undefined : options["reasoning"];
  if (effort === "xhigh") {
    const why = 'not every vendor has the reasoning "xhigh"';
    throw new MillraceError("invalid_definition", `${why}: use "high" or "max"`);
  }
  return given({
    maxTokens: options["maxOutputTokens"],
    temperature: options["temperature"],
    topP: options["topP"],
    stop: options["stopSequences"],
    seed: options["seed"],
    // It is the default, and always there.
    toolChoice: type === "auto" ? undefined : type === "tool" ? { tool: toolName } : type,
    effort,
  });
}

/**
 * The settings of a model in the OpenAI Agents SDK. Throws for those that have no name here. How a model
 * reasons and how much it writes is left out: the SDK itself sets it for some names of models.
 */
export function agentsRequestSettings(settings: Fields): RequestSettings {
  refuse(
    settings,
    ["frequencyPenalty", "presencePenalty", "truncation"],
    "modelSettings.providerData",
  );
  const choice = settings["toolChoice"];
  const isWord = ["auto", "none", "required"].includes(String(choice));
  return given({
    maxTokens: settings["maxTokens"],
    temperature: settings["temperature"],
    topP: settings["topP"],
    toolChoice: isWord || typeof choice !== "string" ? choice : { tool: choice },
    parallelTools: settings["parallelToolCalls"],
  });
}

function given(settings: Fields): RequestSettings {
  const entries = Object.entries(settings).flatMap(([name, value]): [string, Json][] => {
    const copy = value === null ? undefined : plain(value);
    return copy === undefined ? [] : [[name, copy]];
  });
  return Object.fromEntries(entries);
}

function refuse(settings: Fields, names: readonly string[], place: string): void {
  const name = names.find((each) => settings[each] !== undefined && settings[each] !== null);
  if (name === undefined) return;
  const instead = `write it into ${place}, by the vendor's own name`;
  throw new MillraceError(
    "invalid_definition",
    `${name} is not the same for all vendors: ${instead}`,
  );
}
