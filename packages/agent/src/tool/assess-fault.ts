import type { ArgumentFault } from "@millrace/core/writing";

/** What is wrong with the arguments, and how the model can mend it. */
const meanings: Readonly<Record<ArgumentFault["code"], string>> = {
  bad_json: "they are not JSON. Send one JSON object",
  truncated: "they end in the middle. Send the whole object, or ask for less at once",
  trailing_data: "something follows the object. Send one JSON object and nothing else",
  duplicate_key: "a key is there twice. Send each key once",
  forbidden_key: "a key is not allowed. Leave it out",
  too_deep: "they are nested too deeply. Send a flatter object",
  too_large: "they are too large. Send less at once",
  inexact_number: "a number can't be held exactly. Send it as a string",
  malformed_text: "a text has half a character. Send whole characters",
  not_json: "they are not JSON. Send one JSON object",
  not_an_object: "they are JSON, but no object. Send one JSON object",
  double_encoded: "they are a string with JSON in it. Send the object itself",
};

/** The answer to a call whose arguments can't be used. */
export function describeFault({ code, at, key }: ArgumentFault): string {
  const place = at === undefined ? "" : ` (at character ${at})`;
  // Keys are the model's text: quoted, and not at any length.
  const name =
    key === undefined ? "" : ` (key ${JSON.stringify(key.slice(0, 100).toWellFormed())})`;
  return `not run: the arguments can't be used (${code}): ${meanings[code]}${name}${place}`;
}
