import type { SessionStore } from "@millrace/core/ports";
import { askerOf } from "./reading.ts";
import type { ReadContext } from "./reading.ts";
import { onlyRow } from "./writing.ts";

/** The calls for checkpoints. A reset deletes the one whose facts it undoes, in its own transaction. */
export function checkpointCalls(
  context: ReadContext,
): Required<Pick<SessionStore, "checkpoint" | "keepCheckpoint">> {
  const { tenant } = context;
  const ask = askerOf(context);
  return {
    checkpoint: async (uid) => {
      const [rows, [kept] = []] = await ask(["row", uid, tenant], ["checkpoint", uid, tenant]);
      onlyRow(uid, rows);
      return kept && { head: Number(kept["head"]), text: String(kept["text"]) };
    },
    keepCheckpoint: async (uid, { head, text }) => {
      // A text column holds neither; JSON escapes both. A checkpoint that is not kept costs time alone.
      if (text.includes("\0") || !text.isWellFormed()) return;
      const [rows] = await ask(["row", uid, tenant], ["keepCheckpoint", uid, tenant, head, text]);
      onlyRow(uid, rows);
    },
  };
}
