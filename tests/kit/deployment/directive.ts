/** What the text of a prompt asks of the model of a deployment. */
export interface Directive {
  /** Of the person's command: found again in the reply and in the effects. */
  readonly key: string;
  /**
   * `plain`: a text. `effect`: one effectful call. `many`: four calls. `ask`: one that needs approval.
   * `child`: one that starts a process. `delegate`: one of a sub-agent. `long`: one, by a reply that reports a
   * full context.
   */
  readonly mode: (typeof modes)[number] | (typeof rareModes)[number];
  /** How many characters the reply has at least. */
  readonly length: number;
}

export const modes = ["plain", "effect", "many", "ask"] as const;
/** For agents that have what they need: a tool `child` or `helper`, or a limited context. */
const rareModes = ["child", "delegate", "long"] as const;

/** A directive as the text of a prompt. */
export function textOfDirective({ key, mode, length }: Directive): string {
  return `key=${key} mode=${mode} length=${length}`;
}

/** Reads the text of a prompt. Undefined for any other text. */
export function parseDirective(text: string): Directive | undefined {
  const [, key, mode, length] = /^key=(\S+) mode=(\S+) length=(\d+)$/.exec(text) ?? [];
  const known = [...modes, ...rareModes].find((one) => one === mode);
  return key === undefined || known === undefined
    ? undefined
    : { key, mode: known, length: Number(length) };
}
