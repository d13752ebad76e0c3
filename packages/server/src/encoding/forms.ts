import type { Encoding } from "./encoding.ts";
import { steps } from "./steps.ts";
import { whole } from "./whole.ts";

/** The forms of messages that a reader can ask for. */
export type Form = "steps" | "whole";

const forms: Readonly<Record<Form, Encoding>> = { steps, whole };

/** The encoding of a form. `steps` if left out. */
export function encodingOf(form: Form | Encoding = "steps"): Encoding {
  return typeof form === "string" ? forms[form] : form;
}
