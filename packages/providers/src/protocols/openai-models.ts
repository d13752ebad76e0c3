import type { ModelSettings } from "@millrace/core/ports";

/** What is known of an OpenAI model by its name. Of other names, such as those of deployments, nothing is. */
interface ModelRow {
  /** 400 for `gpt-4o`, 501 for `gpt-5.1`. 0 for the models of the o series. */
  readonly version: number;
  /** What follows the number, such as `-mini`. */
  readonly variant: string;
}

function knownModel(model: string): ModelRow | undefined {
  const found = /^(?:.*\/)?(?:ft:)?(?:(?:chat)?gpt-(\d+)(?:\.(\d+))?|o\d+)(?!\d)([^/]*)$/.exec(
    model,
  );
  if (found === null) return undefined;
  const [, major = 0, minor = 0, variant = ""] = found;
  return { version: Number(major) * 100 + Number(minor), variant };
}

/** The number of a GPT model, as 506 for `gpt-5.6`. Undefined for models that are not known. */
export function gptVersion(model: string): number | undefined {
  return knownModel(model)?.version;
}

/** Whether the model reasons. Undefined if its name does not tell. */
export function reasons(model: string): boolean | undefined {
  const known = knownModel(model);
  if (known === undefined) return undefined;
  const { version, variant } = known;
  return version === 0 || (version >= 500 && !variant.startsWith("-chat"));
}

/** True for models that always reason: they take no sampling settings and no effort `none`. */
export function alwaysReasons(model: string): boolean {
  const version = gptVersion(model);
  return reasons(model) === true && (version === 0 || version === 500);
}

/** True for models that reason only if an effort asks for it. */
export function reasonsOnRequest(model: string): boolean {
  const version = gptVersion(model) ?? 0;
  return reasons(model) === true && version > 500 && version < 505;
}

/** True for models that take marks in the prompt for what is to be kept. */
export function takesBreakpoints(model: string): boolean {
  return (gptVersion(model) ?? 0) >= 506;
}

/**
 * The efforts that a model takes, from the least. Undefined if that is not known: special variants
 * differ. From the vendor's guide to reasoning and its messages for values that are not supported.
 */
function effortsOf(model: string): readonly string[] | undefined {
  const { version, variant } = knownModel(model) ?? { version: undefined, variant: "" };
  if (version === 0) return ["low", "medium", "high"];
  if (version === undefined || !/^(?:-(?:mini|nano|sol|luna|terra))?(?:-[\d-]+)?$/.test(variant)) {
    return undefined;
  }
  if (version === 500) return ["minimal", "low", "medium", "high"];
  const common = ["none", "low", "medium", "high"];
  if (version === 501) return common;
  return version < 506 ? [...common, "xhigh"] : [...common, "xhigh", "max"];
}

type Effort = NonNullable<ModelSettings["effort"]>;

/**
 * The vendor's word for an effort, or undefined if the model does not have it. `minimal` and `max` are
 * the least and the most of the model. For models that are not known it is the word itself.
 */
export function effortWord(effort: Effort, model: string): string | undefined {
  const efforts = effortsOf(model);
  if (efforts === undefined || efforts.includes(effort)) return effort;
  if (effort === "max") return efforts.at(-1);
  return effort === "minimal" ? efforts.find((word) => word !== "none") : undefined;
}
