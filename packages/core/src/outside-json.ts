// JSON, text and bytes from outside, without the codecs that `wire` has beside them: programs that only read a
// vendor's JSON load nothing else.
export { decodeBase64, encodeBase64 } from "./wire/base64.ts";
export { checkJson, equalJson, isJsonObject } from "./json.ts";
export { parseJsonText } from "./parse-json.ts";
export { parseJson } from "./scan-json.ts";
export { isWellFormed } from "./text.ts";
