// The replies of the demo, in Markdown: headings, lists, a table, code in two languages and a quote.

export const thought =
  "The p95 doubled on Tuesday. I should line up the deploys of that day with the latency, then read the slow queries of the same hour. If a statement shows up that was fast before, its plan tells whether an index is gone.";

export const finding = `The 14:10 deploy dropped the index on \`orders.customer_id\`. Every checkout now reads the whole table.

| when | what | p95 |
| --- | --- | ---: |
| Tue 14:05 | before the deploy | 310 ms |
| Tue 14:15 | after the deploy | 2.4 s |
| Wed 09:10 | today | 2.6 s |

Adding it back without a lock:`;

export const done = `The index is there, and the plan uses it again: **2.4 s became 12 ms**.

What is left to do:

1. Put the index into the schema, so that the next deploy keeps it.
2. Refresh the statistics of \`orders\`: they are from before the import.
3. Add a check that no deploy drops an index which is in use.

> Dropping an index is a change of behaviour, and deserves a review like one.`;

export const denied =
  "Then I leave the table as it is. The statement is above, whenever you want it.";

export const essay = `# How text reaches this page

A reply is written in small pieces. Each piece is stored as a *delta*, sent to every viewer, and folded into the same draft everywhere, so that **two tabs never disagree**.

## What happens to one word

1. The vendor's bytes are cut into frames.
2. A pure function turns frames into deltas.
3. The writer publishes them; the hub sends them on.
4. Your page folds them, at most once for each frame of the screen.

## The heart of it

\`\`\`ts
// The same fold in the loop, the hub, the browser and the tests.
export function fold(draft: Draft, delta: Delta): Draft {
  switch (delta.op) {
    case "append_text":
      return append(draft, delta.partId, delta.chunk);
    case "commit_part":
      return commit(draft, delta.part);
    default:
      return draft; // from a newer peer
  }
}
\`\`\`

And what a page writes to show it:

\`\`\`tsx
function Chat({ id }: { id: string }) {
  const session = useSession(client, id);
  return session.items.map((item) => <Message key={item.id} item={item} />);
}
\`\`\`

## What it costs

| viewers | deltas a second | bytes for each word | notes |
| ---: | ---: | ---: | :--- |
| 1 | 200 | 31 | the usual case |
| 20 | 200 | 31 | one fold, twenty copies |
| 10,000 | 200 | 31 | several processes, one log |

- A page that sleeps misses nothing: it resumes from its cursor.
- A page that is closed stops nothing: the run goes on.
- Stop is a request of its own, and overtakes what waits.

> A subscription is a position, not a moment.

Read more in [the protocol](https://millrace.invalid/protocol), or press \`?\` for the keys of this page.`;
