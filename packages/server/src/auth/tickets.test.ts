import { expect, test } from "vitest";
import { Tickets } from "./tickets.ts";

const who = { tenant: "default", user: "ann" };
const use = { use: "blob", sessionId: "s", uid: "u", hash: "h" } as const;
const tickets = new Tickets(
  "a secret",
  () => true,
  { ticketMs: 1_000 },
  () => "nonce",
);

test("a ticket opens what it was made for", async () => {
  const { ticket } = tickets.make(who, use, 0);
  expect(await tickets.read(ticket, use, 1)).toEqual({
    ...use,
    who: { ...who, roles: undefined, expiresAt: undefined },
  });
});

test("a ticket whose letters differ is refused, also where they stand for the same bytes", async () => {
  const { ticket } = tickets.make(who, use, 0);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < ticket.length; at += 1) {
    for (const letter of `${letters}=+/.`) {
      if (ticket[at] === letter) continue;
      const changed = ticket.slice(0, at) + letter + ticket.slice(at + 1);
      await expect(tickets.read(changed, use, 1), changed).rejects.toMatchObject({
        code: "unauthenticated",
      });
    }
  }
});
