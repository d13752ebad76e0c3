import { callId } from "@millrace/core/model";
import type { ToolCallPart, ToolResultPart } from "@millrace/core";

const legalId = /^[a-zA-Z0-9_-]{1,40}$/;
/** Tool names that every vendor accepts. */
export const legalName: RegExp = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * Gives calls ids and names that every vendor accepts. A result belongs to the latest call with its
 * id.
 */
export class CallNames {
  readonly #used = new Set<string>();
  readonly #latest = new Map<string, string>();

  name(call: ToolCallPart): ToolCallPart {
    const id = this.#unique(call.callId);
    this.#latest.set(call.callId, id);
    const tool = legalTool(call.tool);
    if (id === call.callId && tool === call.tool) return call;
    return { ...call, callId: callId(id), tool };
  }

  rename(result: ToolResultPart): ToolResultPart {
    const id = this.#latest.get(result.callId) ?? result.callId;
    const tool = legalTool(result.tool);
    if (id === result.callId && tool === result.tool) return result;
    return { ...result, callId: callId(id), tool };
  }

  #unique(id: string): string {
    const base = legalId.test(id)
      ? id
      : `call_${id.replaceAll(/[^a-zA-Z0-9_-]/g, "")}`.slice(0, 32);
    let unique = base;
    for (let number = 2; this.#used.has(unique); number += 1) {
      unique = `${base.slice(0, 32)}_${number}`;
    }
    this.#used.add(unique);
    return unique;
  }
}

function legalTool(name: string): string {
  if (legalName.test(name)) return name;
  return `_${name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}`.slice(0, 64);
}
