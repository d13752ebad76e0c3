import type { Json, JsonObject } from "../json.ts";
import { encodeBase64 } from "./base64.ts";
import type { Form, Shape } from "./shape.ts";

/** A value as JSON, by the shape that decodes it. Fields that the shape does not know are left out. */
export function encode<T extends object>({ form }: Shape<T>, value: T): JsonObject {
  return write(form, value) as JsonObject; // the shape of an object writes one
}

function write(form: Form | undefined, value: unknown): Json {
  switch (form?.by) {
    case undefined:
      return value as Json; // by its shape
    case "fields": {
      const written: Record<string, Json> = form.type === undefined ? {} : { type: form.type };
      for (const [key, field] of form.fields) {
        const own = (value as Record<string, unknown>)[key];
        const shape = "optional" in field ? field.optional : field;
        if (own !== undefined) written[key] = write(shape.form, own);
      }
      return written;
    }
    case "rows":
      return (value as readonly unknown[]).map((row) => write(form.row.form, row));
    case "tag":
      return write(form.shapeOf((value as Record<string, unknown>)[form.tag]).form, value);
    case "base64":
      return encodeBase64(value as Uint8Array);
    case "original": {
      const { original } = value as { readonly original: JsonObject };
      return form.own === undefined
        ? original
        : { ...original, ...(write(form.own.form, value) as JsonObject) };
    }
    default:
      return form satisfies never;
  }
}
