import type { Json, JsonObject } from "@millrace/core";

/** One difference between an answer and what was expected. A missing side is undefined. */
export interface Difference {
  /** The path, for example `parts[0].text`. */
  readonly path: string;
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

/**
 * All differences between two JSON values; none if they are equal. The order of keys does not
 * count. Implemented here, so that a wrong comparison in the code under test can't hide its own
 * faults.
 */
export function differences(
  expected: Json | undefined,
  actual: Json | undefined,
  path = "",
): readonly Difference[] {
  if (isList(expected) && isList(actual)) {
    const length = Math.max(expected.length, actual.length);
    return Array.from({ length }, (_, at) =>
      differences(expected[at], actual[at], `${path}[${at}]`),
    ).flat();
  }
  if (isObject(expected) && isObject(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) =>
      differences(own(expected, key), own(actual, key), path === "" ? key : `${path}.${key}`),
    );
  }
  return expected === actual ? [] : [{ path, expected, actual }];
}

function own(value: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
