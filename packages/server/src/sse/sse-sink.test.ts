import { expect, test } from "vitest";
import { quiet, Stand, until } from "../testing/stand.ts";

test("headers go out when the viewer's place is settled, and what is said at that moment is not missed", async () => {
  await using stand = await Stand.open();
  const { scene } = stand;
  const answer = Promise.withResolvers<void>();
  scene.held = answer.promise;
  const visitor = await stand.visit();
  await until(() => stand.responses.length === 1, "the request");
  await quiet();
  expect(visitor.heard()).toBe("");
  visitor.socket.once("data", () => void scene.say());
  answer.resolve();
  await until(() => visitor.heard().includes("input_accepted"), "what was said");

  expect(visitor.heard()).toMatch(/^HTTP\/1.1 200 OK\r\ncontent-type: text\/event-stream/i);
});

test("a viewer who joins in the middle of a part sees its beginning", async () => {
  await using stand = await Stand.open();
  const speaker = await stand.scene.start();
  await speaker.write("the beginning, ");
  const visitor = await stand.visit();
  await until(() => visitor.heard().includes("the beginning, "), "the beginning");
  await speaker.write("the rest");

  await until(() => visitor.heard().includes("the rest"), "the rest");
  expect(visitor.heard().match(/the beginning/g)).toHaveLength(1);
});

test("a connection that is cut affects no other", async () => {
  await using stand = await Stand.open();
  const visitors = [await stand.visit(), await stand.visit(), await stand.visit()] as const;
  await until(() => visitors.every(({ heard }) => heard().includes("closedLanes")), "snapshots");
  visitors[0].socket.resetAndDestroy();
  visitors[1].socket.end();
  await until(() => stand.outcomes.length > 0, "an end");
  const speaker = await stand.scene.start();
  await speaker.write("after the cut");

  await until(() => visitors[2].heard().includes("after the cut"), "the rest");
  expect(stand.outcomes.every((outcome) => outcome === "ended")).toBe(true);
});

test("an announcement that was lost is repaired over the same connection", async () => {
  await using stand = await Stand.open();
  const { scene } = stand;
  const visitor = await stand.visit();
  await until(() => visitor.heard().includes("closedLanes"), "the snapshot");
  scene.deaf = true;
  await scene.say();
  await scene.clock.advance(5_000);

  await until(() => visitor.heard().includes("input_accepted"), "the fact");
  const head = await scene.truth.head(scene.uid);
  await until(() => visitor.heard().includes(`\n: ${head}\n\n`), "the heartbeat");
});

test("the bytes are the same by the socket and by response.write", async () => {
  const bodies: string[] = [];
  for (const wrapped of [false, true]) {
    let writes = 0;
    await using stand = await Stand.open({}, (_, response) => {
      if (!wrapped) return;
      const write = response.write.bind(response);
      response.write = (chunk: Uint8Array) => {
        writes += 1;
        return write(chunk);
      };
    });
    const visitor = await stand.visit();
    await until(() => visitor.heard().includes("closedLanes"), "the snapshot");
    const speaker = await stand.scene.start();
    await speaker.write("größer 😀");
    await until(() => visitor.heard().includes("😀"), "the text");
    await until(() => visitor.heard().endsWith("\r\n"), "the chunk's end");
    bodies.push(visitor.heard().replace(/^[^]*?\r\n\r\n/, ""));
    expect(writes > 0).toBe(wrapped);
  }
  const [socket, response] = bodies.map((body) => body.replaceAll(/session_\w+/g, "uid"));

  expect(socket).toBe(response);
});

test("without chunks, as in HTTP/1.0, the events come plain", async () => {
  await using stand = await Stand.open();
  const visitor = await stand.visit("GET / HTTP/1.0");
  await until(() => visitor.heard().includes("closedLanes"), "the snapshot");
  const speaker = await stand.scene.start();
  await speaker.write("plain");
  await until(() => visitor.heard().includes("plain"), "the text");
  const [, body = ""] = visitor.heard().split(/\r\n\r\n(.*)/s);

  expect(body.startsWith("id: ")).toBe(true);
  expect(body).not.toContain("\r");
});

test("a HEAD request gets headers and no byte more", async () => {
  await using stand = await Stand.open();
  const visitor = await stand.visit("HEAD / HTTP/1.1");
  await until(() => visitor.heard().includes("\r\n\r\n"), "the headers");
  await quiet();

  expect(visitor.heard().endsWith("\r\n\r\n")).toBe(true);
  expect(visitor.heard()).not.toContain("id: ");
});

test("two requests on one connection are answered one after the other", async () => {
  await using stand = await Stand.open();
  const visitor = await stand.visit();
  visitor.socket.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  await until(() => stand.responses.length === 2, "both requests");
  const speaker = await stand.scene.start();
  await speaker.write("first, ");
  await until(() => visitor.heard().includes("first, "), "the first answer");
  await quiet();
  expect(visitor.heard().match(/HTTP\/1.1 200/g)).toHaveLength(1);
  stand.responses[0]?.end();
  await until(() => (visitor.heard().match(/HTTP\/1.1 200/g) ?? []).length === 2, "the second");
  await speaker.write("second");
  await until(() => visitor.heard().includes("second"), "its text");
  const [, one = "", two = ""] = visitor.heard().split("HTTP/1.1 200");

  expect(one.endsWith("\r\n0\r\n\r\n")).toBe(true);
  expect(two).toContain("first, ");
});

test("nothing is written behind the end of a response that somebody else has ended", async () => {
  await using stand = await Stand.open();
  const visitor = await stand.visit();
  await until(() => visitor.heard().includes("closedLanes"), "the snapshot");
  const speaker = await stand.scene.start();
  await quiet();
  stand.responses[0]?.end();
  await speaker.write("too late");
  await until(() => stand.outcomes.length === 1, "the end");
  await quiet();

  expect(visitor.heard().endsWith("\r\n0\r\n\r\n")).toBe(true);
  expect(visitor.heard()).not.toContain("too late");
});

test("a hub that ends, ends its responses whole", async () => {
  await using stand = await Stand.open();
  const visitor = await stand.visit();
  await until(() => visitor.heard().includes("closedLanes"), "the snapshot");
  stand.hub[Symbol.dispose]();
  await until(() => visitor.heard().endsWith("\r\n0\r\n\r\n"), "the last chunk");

  expect(stand.outcomes).toEqual(["ended"]);
});
