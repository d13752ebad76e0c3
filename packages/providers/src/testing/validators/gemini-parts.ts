import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import {
  checkBase64,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  shape,
  words,
} from "./check.ts";
import type { Shape, Violations } from "./check.ts";

export const functionNameRule = { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/ } as const;

/**
 * The place of a part: a role, or `system`; and data fields that are newer than this validator.
 */
export interface PartPlace {
  readonly place: string;
  readonly later?: readonly string[] | undefined;
}

/** Checks one part. Of `later` data fields only the names are known. */
export function checkPart(
  found: Violations,
  part: Json,
  path: string,
  { place, later = [] }: PartPlace,
): void {
  if (place === "model" && isJsonObject(part) && later.some((key) => key in part)) return;
  if (!checkShape(found, part, path, partShape)) return;
  const data = Object.keys(part).filter((key) => Object.hasOwn(dataFields, key));
  if (data.length !== 1) found.add(path, `${data.length} data fields instead of one`);
  const signature = part["thoughtSignature"];
  if (signature !== undefined) checkSignature(found, signature, `${path}.thoughtSignature`);
  if (part["thought"] !== undefined && typeof part["thought"] !== "boolean") {
    found.add(`${path}.thought`, "not a boolean");
  }
  if (place !== "model") {
    for (const key of ["thought", "thoughtSignature"]) {
      if (part[key] !== undefined) found.add(`${path}.${key}`, `not taken from ${place}`);
    }
  }
  for (const key of data) {
    const field = dataFields[key];
    if (field === undefined) continue;
    if (!field.places.includes(place)) found.add(path, `${key} is not taken from ${place}`);
    field.check(found, part, `${path}.${key}`);
  }
}

/** Bytes, in either alphabet, with or without padding. */
function checkSignature(found: Violations, value: Json, path: string): void {
  if (!checkText(found, value, path)) return;
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) && value.length % 4 !== 1;
  if (!isBase64) found.add(path, "not base64");
}

/** Media of a tool, inside its result. */
function checkPictures(found: Violations, parts: Json, path: string): void {
  if (!checkList(found, parts, path)) return;
  for (const [at, part] of parts.entries()) {
    const data = isJsonObject(part) ? part["inlineData"] : undefined;
    if (!checkShape(found, part, `${path}[${at}]`, pictureShape)) continue;
    if (!checkShape(found, data, `${path}[${at}].inlineData`, pictureDataShape)) continue;
    checkOneOf(found, data["mimeType"], `${path}[${at}].inlineData.mimeType`, pictureTypes);
    checkBase64(found, data["data"], `${path}[${at}].inlineData.data`);
  }
}

const pictureShape = shape("inlineData");
const pictureDataShape = shape("mimeType data", "displayName");
const pictureTypes = words("image/png image/jpeg image/webp application/pdf text/plain");

interface DataField {
  readonly places: readonly string[];
  readonly check: (found: Violations, part: JsonObject, path: string) => void;
}

/** Checks the object in one field of a part. */
function object(
  key: string,
  allowed: Shape,
  check: (found: Violations, inner: JsonObject, path: string) => void,
): DataField["check"] {
  return (found, part, path) => {
    const inner = part[key];
    if (checkShape(found, inner, path, allowed)) check(found, inner, path);
  };
}

const dataFields: Readonly<Record<string, DataField>> = {
  text: {
    places: ["user", "model", "system"],
    check: (found, part, path) => {
      if (!checkText(found, part["text"], path, { empty: "allowed" })) return;
      if (part["text"] === "" && part["thoughtSignature"] === undefined) found.add(path, "empty");
    },
  },
  inlineData: {
    places: ["user", "model"],
    check: object("inlineData", shape("mimeType data"), (found, data, path) => {
      checkOneOf(found, data["mimeType"], `${path}.mimeType`, mimeTypes);
      checkBase64(found, data["data"], `${path}.data`);
    }),
  },
  fileData: {
    places: ["user", "model"],
    check: object("fileData", shape("fileUri", "mimeType"), (found, data, path) => {
      checkText(found, data["fileUri"], `${path}.fileUri`, { pattern: /^(https?|gs):\/\/\S+$/ });
      if (data["mimeType"] !== undefined) {
        checkOneOf(found, data["mimeType"], `${path}.mimeType`, mimeTypes);
      }
    }),
  },
  functionCall: {
    places: ["model"],
    check: object("functionCall", shape("name", "args id"), (found, call, path) => {
      checkText(found, call["name"], `${path}.name`, functionNameRule);
      if (call["id"] !== undefined) checkText(found, call["id"], `${path}.id`);
      if (call["args"] !== undefined && !isJsonObject(call["args"])) {
        found.add(`${path}.args`, "not an object");
      }
    }),
  },
  functionResponse: {
    places: ["user"],
    check: object(
      "functionResponse",
      shape("name response", "id parts willContinue scheduling"),
      (found, result, path) => {
        checkText(found, result["name"], `${path}.name`, functionNameRule);
        if (result["id"] !== undefined) checkText(found, result["id"], `${path}.id`);
        if (!isJsonObject(result["response"])) found.add(`${path}.response`, "not an object");
        if (result["parts"] !== undefined) checkPictures(found, result["parts"], `${path}.parts`);
      },
    ),
  },
  executableCode: {
    places: ["model"],
    check: object("executableCode", shape("language code", "id"), (found, code, path) => {
      checkOneOf(found, code["language"], `${path}.language`, ["PYTHON", "LANGUAGE_UNSPECIFIED"]);
      checkText(found, code["code"], `${path}.code`);
    }),
  },
  codeExecutionResult: {
    places: ["model"],
    check: object("codeExecutionResult", shape("outcome", "output id"), (found, result, path) => {
      checkOneOf(found, result["outcome"], `${path}.outcome`, outcomes);
      if (result["output"] !== undefined) {
        checkText(found, result["output"], `${path}.output`, { empty: "allowed" });
      }
    }),
  },
  toolCall: {
    places: ["model"],
    check: object("toolCall", shape("toolType", "args id"), (found, call, path) => {
      checkText(found, call["toolType"], `${path}.toolType`);
    }),
  },
  toolResponse: {
    places: ["model"],
    check: object("toolResponse", shape("toolType", "response id"), (found, call, path) => {
      checkText(found, call["toolType"], `${path}.toolType`);
    }),
  },
};

const partShape = shape(
  "",
  `${Object.keys(dataFields).join(" ")}
    thought thoughtSignature videoMetadata mediaResolution partMetadata`,
);
const outcomes = [
  "OUTCOME_OK",
  "OUTCOME_FAILED",
  "OUTCOME_DEADLINE_EXCEEDED",
  "OUTCOME_UNSPECIFIED",
];
const mimeTypes = words(`
  image/png image/jpeg image/webp image/heic image/heif application/pdf
  audio/wav audio/x-wav audio/mp3 audio/mpeg audio/aiff audio/aac audio/ogg audio/flac audio/mp4
  audio/webm audio/pcm audio/m4a audio/opus video/mp4 video/mpeg video/mov video/avi video/x-flv video/mpg
  video/webm video/wmv video/3gpp video/quicktime
  text/plain text/html text/css text/csv text/markdown text/xml text/rtf text/javascript`);
