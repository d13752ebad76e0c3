import { expect, test } from "vitest";
import { HubServer, settleLoopback, until } from "../testing/hub-server.ts";

test("headers go out when the viewer's position is settled, and an input accepted at that moment is not missed", async () => {
  await using server = await HubServer.open();
  const { session } = server;
  const answer = Promise.withResolvers<void>();
  session.heldRead = answer.promise;
  const connection = await server.connect();
  await until(() => server.responses.length === 1, "the request");
  await settleLoopback();
  expect(connection.received()).toBe("");
  connection.socket.once("data", () => void session.acceptInput());
  answer.resolve();
  await until(() => connection.received().includes("input_accepted"), "the input");

  expect(connection.received()).toMatch(/^HTTP\/1.1 200 OK\r\ncontent-type: text\/event-stream/i);
});

test("a viewer that joins in the middle of a part sees its beginning", async () => {
  await using server = await HubServer.open();
  const writer = await server.session.start();
  await writer.write("the beginning, ");
  const connection = await server.connect();
  await until(() => connection.received().includes("the beginning, "), "the beginning");
  await writer.write("the rest");

  await until(() => connection.received().includes("the rest"), "the rest");
  expect(connection.received().match(/the beginning/g)).toHaveLength(1);
});

test("a connection that is cut affects no other", async () => {
  await using server = await HubServer.open();
  const connections = [
    await server.connect(),
    await server.connect(),
    await server.connect(),
  ] as const;
  await until(() => server.responses.length === 3, "requests");
  await server.session.clock.advance(100); // later viewers share a read of the head
  await until(
    () => connections.every(({ received }) => received().includes("closedLanes")),
    "snapshots",
  );
  connections[0].socket.resetAndDestroy();
  connections[1].socket.end();
  await until(() => server.outcomes.length > 0, "an end");
  const writer = await server.session.start();
  await writer.write("after the cut");

  await until(() => connections[2].received().includes("after the cut"), "the rest");
  expect(server.outcomes.every((outcome) => outcome === "ended")).toBe(true);
});

test("a lost announcement is made good over the same connection", async () => {
  await using server = await HubServer.open();
  const { session } = server;
  const connection = await server.connect();
  await until(() => connection.received().includes("closedLanes"), "the snapshot");
  session.losesMessages = true;
  await session.acceptInput();
  await session.clock.advance(15_000);

  await until(() => connection.received().includes("input_accepted"), "the fact");
  const head = await session.truth.head(session.uid);
  await until(() => connection.received().includes(`\n: ${head}\n\n`), "the heartbeat");
});

test("the bytes are the same by the socket and by response.write", async () => {
  const bodies: string[] = [];
  for (const wrapped of [false, true]) {
    let writes = 0;
    await using server = await HubServer.open({ random: () => 0.5 }, (_, response) => {
      if (!wrapped) return;
      const write = response.write.bind(response);
      response.write = (chunk: Uint8Array) => {
        writes += 1;
        return write(chunk);
      };
    });
    const connection = await server.connect();
    await until(() => connection.received().includes("closedLanes"), "the snapshot");
    const writer = await server.session.start();
    await writer.write("größer 😀");
    await until(() => connection.received().includes("😀"), "the text");
    await until(() => connection.received().endsWith("\r\n"), "the chunk's end");
    bodies.push(connection.received().replace(/^[^]*?\r\n\r\n/, ""));
    expect(writes > 0).toBe(wrapped);
  }
  const [socket, response] = bodies.map((body) =>
    body.replaceAll(/(?<="uid":"|id: 1\.)\w+/g, "uid"),
  );

  expect(socket).toBe(response);
});

test("without chunks, as in HTTP/1.0, the events come plain", async () => {
  await using server = await HubServer.open();
  const connection = await server.connect("GET / HTTP/1.0");
  await until(() => connection.received().includes("closedLanes"), "the snapshot");
  const writer = await server.session.start();
  await writer.write("plain");
  await until(() => connection.received().includes("plain"), "the text");
  const [, body = ""] = connection.received().split(/\r\n\r\n(.*)/s);

  expect(body).toMatch(/^retry: \d+\n: \d+\n\nid: /);
  expect(body).not.toContain("\r");
});

test("a HEAD request gets headers and no byte more", async () => {
  await using server = await HubServer.open();
  const connection = await server.connect("HEAD / HTTP/1.1");
  await until(() => connection.received().includes("\r\n\r\n"), "the headers");
  await settleLoopback();

  expect(connection.received().endsWith("\r\n\r\n")).toBe(true);
  expect(connection.received()).not.toContain("id: ");
});

test("two requests on one connection are answered one after the other", async () => {
  await using server = await HubServer.open();
  const connection = await server.connect();
  connection.socket.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  await until(() => server.responses.length === 2, "both requests");
  const writer = await server.session.start();
  await writer.write("first, ");
  await until(() => connection.received().includes("first, "), "the first answer");
  await settleLoopback();
  expect(connection.received().match(/HTTP\/1.1 200/g)).toHaveLength(1);
  server.responses[0]?.end();
  await until(
    () => (connection.received().match(/HTTP\/1.1 200/g) ?? []).length === 2,
    "the second",
  );
  await writer.write("second");
  await until(() => connection.received().includes("second"), "its text");
  const [, one = "", two = ""] = connection.received().split("HTTP/1.1 200");

  expect(one.endsWith("\r\n0\r\n\r\n")).toBe(true);
  expect(two).toContain("first, ");
});

test("nothing is written after the end of a response that the application has ended", async () => {
  await using server = await HubServer.open();
  const connection = await server.connect();
  await until(() => connection.received().includes("closedLanes"), "the snapshot");
  const writer = await server.session.start();
  await settleLoopback();
  server.responses[0]?.end();
  await writer.write("too late");
  await until(() => server.outcomes.length === 1, "the end");
  await settleLoopback();

  expect(connection.received().endsWith("\r\n0\r\n\r\n")).toBe(true);
  expect(connection.received()).not.toContain("too late");
});

test("disposing of a hub ends its responses with their last chunk", async () => {
  await using server = await HubServer.open();
  const connection = await server.connect();
  await until(() => connection.received().includes("closedLanes"), "the snapshot");
  server.hub[Symbol.dispose]();
  await until(() => connection.received().endsWith("\r\n0\r\n\r\n"), "the last chunk");

  expect(server.outcomes).toEqual(["ended"]);
});
