import { describe, expect, it } from "vitest";
import { roleTable } from "../auth/authorize.ts";
import type { AuthorizeQuestion } from "../auth/authorize.ts";
import { newKey, Served } from "../testing/served.ts";

/** A server whose authoriser says no to one action, and what it was asked. */
function served(refused: AuthorizeQuestion["action"]): {
  readonly server: Served;
  readonly asked: readonly AuthorizeQuestion[];
} {
  const asked: AuthorizeQuestion[] = [];
  const server = new Served(undefined, {
    authorize: (question) => {
      asked.push(question);
      return question.action !== refused && roleTable(question);
    },
  });
  return { server, asked };
}

describe("the authoriser of an application", () => {
  it("is asked about a session that would be made, and nothing is made after a no", async () => {
    const { server, asked } = served("create");
    await using _ = server;
    const body = { id: "s", metadata: { team: "a" } };
    const answer = await server.request("/v1/sessions", { body, key: newKey() });

    expect(answer.status).toBe(403);
    expect(asked).toMatchObject([
      {
        action: "create",
        session: { id: "s", tenant: "t1", owner: "ann", metadata: body.metadata },
      },
    ]);
    expect((await server.request("/v1/sessions/s")).status).toBe(404);
  });

  it("is asked about a fork, as a session of the caller", async () => {
    const { server, asked } = served("create");
    await using _ = server;
    const body = { id: "s", owner: "ann" };
    const fork = { id: "f", itemId: "item_x" };
    await server.request("/v1/sessions", { body, key: newKey(), user: "service" });
    expect(asked.at(-1)?.session.owner).toBe("ann");
    await using open = new Served(undefined, {
      authorize: ({ action, session }) => action !== "create" || session.id === "s",
    });
    await open.create("s");
    const answer = await open.request("/v1/sessions/s/forks", { body: fork, key: newKey() });

    expect(answer.status).toBe(403);
  });

  it("is asked about the caller's list", async () => {
    const { server, asked } = served("list");
    await using _ = server;

    expect((await server.request("/v1/sessions")).status).toBe(403);
    expect(asked).toMatchObject([{ action: "list", session: { id: "", owner: "ann" } }]);
  });
});
