import type { Reply } from "./reply.ts";

/** The reply, which gives something back when its body is written or its client is gone, whichever is first. */
export function heldBody(reply: Reply, give: () => void, gone: AbortSignal): Reply {
  const { body } = reply;
  if (body === undefined || body instanceof Uint8Array || gone.aborted) {
    give();
    return reply;
  }
  gone.addEventListener("abort", give, { once: true });
  return { ...reply, body: until(body, give) };
}

async function* until(
  body: AsyncIterable<Uint8Array>,
  give: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } finally {
    give();
  }
}
