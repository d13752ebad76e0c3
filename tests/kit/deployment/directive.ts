/** What the text of a prompt asks of the model of a deployment. */
export interface Directive {
  /** Of the person's command: found again in the reply and in the effects. */
  readonly key: string;
  /** `plain`: a text. `effect`: one effectful call. `many`: four calls. `ask`: one that needs approval. */
  readonly mode: (typeof modes)[number];
  /** How many characters the reply has at least. */
  readonly length: number;
}

export const modes = ["plain", "effect", "many", "ask"] as const;

/** A directive as the text of a prompt. */
export function textOfDirective({ key, mode, length }: Directive): string {
  return `key=${key} mode=${mode} length=${length}`;
}

/** Reads the text of a prompt. Undefined for any other text. */
export function parseDirective(text: string): Directive | undefined {
  const [, key, mode, length] = /^key=(\S+) mode=(\S+) length=(\d+)$/.exec(text) ?? [];
  const known = modes.find((one) => one === mode);
  return key === undefined || known === undefined
    ? undefined
    : { key, mode: known, length: Number(length) };
}
