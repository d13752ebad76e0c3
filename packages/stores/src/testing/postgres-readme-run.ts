import { inputId, partId } from "@millrace/core/writing";
import { postgresStore } from "@millrace/stores/postgres";

await using store = postgresStore(); // the environment's DATABASE_URL
await store.migrate(); // may be run by every process that starts

const name = "holiday plans";
const { uid } = (await store.find(name)) ?? (await store.create({ sessionId: name }));

const parts = [{ kind: "text", id: partId("p1"), text: "Where is it warm in May?" }] as const;
const input = { kind: "prompt", parts } as const;
const body = { type: "input_accepted", inputId: inputId("i1"), input } as const;
const answer = await store.accept(uid, "key-1", body); // "duplicate" when it is run again
console.log(answer.outcome);

const verdict = await store.verify(name); // is every fact as it was written?
console.log(verdict.ok);
