import type { SessionUid } from "@millrace/core";
import { post } from "../kit/deployment/command.ts";
import type { Deployment } from "../kit/deployment/deployment.ts";
import { modes, textOfDirective } from "../kit/deployment/directive.ts";
import type { Random } from "../kit/random.ts";

const count = 4;

/** Begins runs with replies of some seconds, with and without tools. */
export async function sendPrompts(
  { store, addresses }: Deployment,
  prefix: string,
  random: Random,
): Promise<readonly SessionUid[]> {
  const plain = modes.filter((mode) => mode !== "ask");
  return await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const session = `${prefix}-busy-${at}`;
      const { uid } = await store.create({ sessionId: session });
      const length = 100 + random.below(400);
      const text = textOfDirective({ key: session, mode: random.pick(plain), length });
      const options = { session, addresses, patienceMs: 30_000 };
      await post({ call: "send", key: session, text }, options);
      return uid;
    }),
  );
}
