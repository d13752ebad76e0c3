import { inputId, partId } from "@millrace/core/writing";
import { fileStore } from "@millrace/stores/file";

await using store = fileStore("sessions");
const name = "holiday plans";
const { uid } = (await store.find(name)) ?? (await store.create({ sessionId: name }));

const parts = [{ kind: "text", id: partId("p1"), text: "Where is it warm in May?" }] as const;
const input = { kind: "prompt", parts } as const;
await store.accept(uid, "key-1", { type: "input_accepted", inputId: inputId("i1"), input });

for await (const line of store.exportSession(name)) console.log(line);
const verdict = await store.verify(name); // is sessions/holiday%20plans.jsonl as it was written?
console.log(verdict.ok);
