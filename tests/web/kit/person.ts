import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** An answer of a server, as far as tests look at it. */
export interface HttpAnswer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: string;
}

/** Whom all requests of these tests act for. */
export const credentials: Readonly<Record<string, string>> = { authorization: "Bearer ann" };

/** What a person posts. The key is the same for each try. */
export interface Post {
  readonly path: string;
  readonly key: string;
  readonly body: object;
}

/** One try, on a connection of its own. Undefined: there was no answer, or only a part of it. */
async function tryPost(url: string, post: Post): Promise<HttpAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<HttpAnswer | undefined>();
  const headers = {
    ...credentials,
    "content-type": "application/json",
    "idempotency-key": post.key,
  };
  const options = { method: "POST", headers, agent: false, timeout: 5_000 };
  const sent = request(`${url}${post.path}`, options, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.once("error", () => resolve(undefined));
    response.once("end", () => {
      const { statusCode: status = 0 } = response;
      const replayed = response.headers["idempotency-replayed"] === "true";
      resolve({ status, replayed, body: Buffer.concat(chunks).toString() });
    });
  });
  sent.once("error", () => resolve(undefined));
  sent.once("timeout", () => sent.destroy());
  sent.once("close", () => resolve(undefined));
  sent.end(JSON.stringify(post.body));
  return await promise;
}

/** Posts until a server has answered with 2xx, as a client does that keeps its key. */
export async function postUntilAnswered(url: string, post: Post): Promise<HttpAnswer> {
  const end = performance.now() + 30_000;
  for (;;) {
    const answer = await tryPost(url, post);
    if (answer !== undefined && answer.status < 300) return answer;
    // No answer, or 5xx: the same again. What the request itself has wrong stays wrong.
    if ((answer?.status ?? 500) < 500 || performance.now() > end)
      throw new Error(`${post.path} ${post.key}: ${JSON.stringify(answer)}`);
    await sleep(50);
  }
}

/** Makes a session of this name. */
export async function createSession(url: string, id: string): Promise<void> {
  const key = `create-${id}`.padEnd(16, "-");
  await postUntilAnswered(url, { path: "/v1/sessions", key, body: { id } });
}

/** Sends a prompt. The key has at least 16 characters. */
export function prompt(
  url: string,
  session: string,
  key: string,
  text: string,
): Promise<HttpAnswer> {
  const body = { kind: "prompt", text };
  return postUntilAnswered(url, { path: `/v1/sessions/${session}/inputs`, key, body });
}
