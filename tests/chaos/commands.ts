import { postBy } from "../kit/deployment/command.ts";
import type { Answer, Command, PostOptions } from "../kit/deployment/command.ts";
import { credentials } from "../web/kit/person.ts";

const tryMs = 4_000;

/** Posts a command to the product's routes until a web node answers. Undefined: none did in time. */
export function post(command: Command, options: PostOptions): Promise<Answer | undefined> {
  return postBy(
    (address, session) => tryOnce(`${address}/v1/sessions/${session}`, command),
    options,
  );
}

async function tryOnce(url: string, command: Command): Promise<Answer | undefined> {
  const { method = "POST", path, body } = requestOf(command);
  const headers: Record<string, string> = { ...credentials, "idempotency-key": command.key };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    const response = await fetch(`${url}/${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(tryMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) {
      const replayed = response.headers.get("idempotency-replayed") === "true";
      return { accepted: true, replayed };
    }
    if (response.status >= 500 || [408, 429].includes(response.status)) return undefined;
    return { accepted: false, reason: text };
  } catch {
    return undefined; // the node is down, or silent
  }
}

interface CommandRequest {
  readonly method?: "DELETE";
  readonly path: string;
  readonly body?: object;
}

function requestOf({ call, text, target = "" }: Command): CommandRequest {
  switch (call) {
    case "send":
      return { path: "inputs", body: { kind: "prompt", text } };
    case "steer":
      return { path: "inputs", body: { kind: "steer", text } };
    case "followUp":
      return { path: "inputs", body: { kind: "follow_up", text } };
    case "takeBack":
      return { method: "DELETE", path: `inputs/${target}` };
    case "abort":
      return { path: "abort", body: {} };
    case "allow":
    case "deny":
      return { path: `approvals/${target}`, body: { decision: call } };
  }
}
