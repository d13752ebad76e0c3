import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, OpenOptions } from "@millrace/agent";
import type { SessionStore } from "@millrace/core/ports";

/** Opens every session of the store as soon as it is there, but those of sub-agents, and never closes one. */
export async function holdAll(
  agent: Agent,
  ports: OpenOptions & { readonly store: SessionStore },
): Promise<never> {
  const open = new Set<string>();
  for (;;) {
    const listed = await ports.store.list().catch(() => []);
    for (const { sessionId, parent } of listed) {
      if (open.has(sessionId) || parent !== undefined) continue;
      open.add(sessionId);
      agent.open({ ...ports, id: sessionId }).catch(() => open.delete(sessionId));
    }
    await sleep(300);
  }
}
