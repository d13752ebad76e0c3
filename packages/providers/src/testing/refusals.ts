import { isJsonObject } from "@millrace/core/wire";
import type { Json } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { RequestRefusal } from "../protocols/refusal.ts";
import { wireNamesOf } from "../protocols/tool-names.ts";
import { isTaken } from "./taken.ts";

/** The request without what was refused, or what is wrong with the refusal. */
export function withoutRefused(
  protocol: string,
  request: ModelRequest,
  { refused: { part, tool, setting }, message }: RequestRefusal,
): ModelRequest | string {
  if (setting !== undefined) return withoutSetting(request, setting, message);
  if (part === undefined) {
    const own = wireNamesOf(request).fromWire.get(tool) ?? tool;
    const tools = (request.tools ?? []).filter(({ name, input }) => {
      return name !== own || fitsAnObject(input);
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

/** For the schemas of the generators: by the type at the top. */
function fitsAnObject(input: Json): boolean {
  if (!isJsonObject(input)) return input !== false;
  const { type = "object" } = input as { readonly type?: Json };
  const isEnum = Array.isArray(input["enum"]) && !input["enum"].some(isJsonObject);
  return !isEnum && (Array.isArray(type) ? type.includes("object") : type === "object");
}
