import { isJsonObject } from "@millrace/core/json";
import type { Json, Part } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { givenOptions } from "../protocols/given-options.ts";
import type { RequestRefusal } from "../protocols/refusal.ts";
import { wireNamesOf } from "../protocols/tool-names.ts";
import type { Target } from "./request-laws.ts";
import { isTaken } from "./taken.ts";

/** The request without what was refused, or what is wrong with the refusal. */
export function withoutRefused(
  { protocol, native }: Pick<Target, "protocol" | "native">,
  request: ModelRequest,
  { refused: { part, tool, setting, option, of }, message }: RequestRefusal,
): ModelRequest | string {
  if (setting !== undefined) return withoutSetting(request, setting, message);
  if (option !== undefined) return withoutOption(request, { option, of }, message);
  if (part === undefined) {
    const names = wireNamesOf(request, native(request.tools ?? []));
    const own = names.fromWire.get(tool) ?? tool;
    const tools = (request.tools ?? []).filter(({ name, input, vendor }) => {
      return name !== own || (fitsAnObject(input) && vendor?.kind !== "mcp_approval");
    });
    const isLess = tools.length < (request.tools?.length ?? 0);
    return isLess ? { ...request, tools } : `refuses the tool ${own} without reason: ${message}`;
  }
  if (isTaken(protocol, part)) return `refuses what the vendor takes: ${message}`;
  if (!message.includes(JSON.stringify(part.mediaType)))
    return `does not name the part: ${message}`;
  const transcript = request.transcript.map((item) =>
    item.parts.includes(part)
      ? { ...item, parts: item.parts.filter((each) => each !== part) }
      : item,
  );
  const isLess = transcript.some((item, at) => item !== request.transcript[at]);
  return isLess ? { ...request, transcript } : `refuses a part that is not there: ${message}`;
}

function withoutSetting(
  request: ModelRequest,
  setting: string,
  message: string,
): ModelRequest | string {
  const { [setting]: given, ...settings } = request.settings ?? {};
  if (given === undefined) return `refuses a setting that is not there: ${message}`;
  return { ...request, settings };
}

function withoutOption(
  request: ModelRequest,
  { option, of }: { readonly option: string; readonly of: Part | undefined },
  message: string,
): ModelRequest | string {
  const given = of === undefined ? undefined : givenOptions(of);
  const isThere = isJsonObject(given) ? given[option] !== undefined : option === "options";
  if (given === undefined || !isThere) return `refuses an option that is not there: ${message}`;
  const { [option]: _, ...options } = isJsonObject(given) ? given : {};
  const transcript = request.transcript.map((item) => ({
    ...item,
    parts: item.parts.map((part) =>
      part.kind !== "opaque" && givenOptions(part) === given
        ? { ...part, metadata: { ...part.metadata, options } }
        : part,
    ),
  }));
  return { ...request, transcript };
}

/** For the schemas of the generators: by the type at the top. */
function fitsAnObject(input: Json): boolean {
  if (!isJsonObject(input)) return input !== false;
  const { type = "object" } = input as { readonly type?: Json };
  const isEnum = Array.isArray(input["enum"]) && !input["enum"].some(isJsonObject);
  return !isEnum && (Array.isArray(type) ? type.includes("object") : type === "object");
}
