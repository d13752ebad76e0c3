import { describe, expect, it } from "vitest";
import { roleTable } from "../auth/authorize.ts";
import type { AuthorizeQuestion } from "../auth/authorize.ts";
import type { Metadata } from "../http/types.ts";
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

  it("is asked about a session as a patch would leave it, and nothing is written after a no", async () => {
    const asked: AuthorizeQuestion[] = [];
    await using server = new Served(undefined, {
      authorize: (question) => {
        asked.push(question);
        return question.session.metadata["model"] !== "expensive" && roleTable(question);
      },
    });
    await server.create("s", { metadata: { model: "cheap", team: "a" } });
    const patch = { method: "PATCH", body: { metadata: { model: "expensive" } } };
    const answer = await server.request("/v1/sessions/s", patch);

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ pointer: "/metadata" });
    expect(asked.at(-1)).toMatchObject({
      action: "manage",
      session: { id: "s", metadata: { model: "expensive", team: "a" } },
      current: { id: "s", metadata: { model: "cheap", team: "a" } },
    });
    expect(await (await server.request("/v1/sessions/s")).json()).toMatchObject({
      metadata: { model: "cheap", team: "a" },
    });
  });

  it("is asked again with what another patch wrote in between", async () => {
    let other = async (): Promise<unknown> => undefined;
    await using server = new Served(undefined, {
      authorize: async (question) => {
        const { session, current } = question;
        const { model, team } = session.metadata;
        if (current !== undefined && model === "expensive") await other();
        return !(model === "expensive" && team === "b") && roleTable(question);
      },
    });
    await server.create("s", { metadata: { team: "a" } });
    const patch = (metadata: Metadata): Promise<Response> =>
      server.request("/v1/sessions/s", { method: "PATCH", body: { metadata } });
    other = async () => {
      other = async () => undefined;
      expect((await patch({ team: "b" })).status).toBe(200);
    };

    expect((await patch({ model: "expensive" })).status).toBe(403);
    expect(await (await server.request("/v1/sessions/s")).json()).toMatchObject({
      metadata: { team: "b" },
    });
  });

  it("is asked once about a patch that leaves metadata alone", async () => {
    const { server, asked } = served("list");
    await using _ = server;
    await server.create("s");
    await server.request("/v1/sessions/s", { method: "PATCH", body: { title: "t" } });

    expect(asked.filter(({ action }) => action === "manage")).toHaveLength(1);
  });

  it("is asked about the caller's list", async () => {
    const { server, asked } = served("list");
    await using _ = server;

    expect((await server.request("/v1/sessions")).status).toBe(403);
    expect(asked).toMatchObject([{ action: "list", session: { id: "", owner: "ann" } }]);
  });
});
