import { MillraceError } from "@millrace/core";
import type { PeopleFact } from "@millrace/core/ports";
import { subjectOf } from "@millrace/core/store-kit";
import type { Found, Lookup, StoreRow } from "@millrace/core/store-kit";
import type { Fact, Item, SessionUid } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import type { Bound, Rows } from "./connection.ts";
import { readBody } from "./fact-row.ts";
import { encodeId, encodeKey } from "./row.ts";
import type { StatementName } from "./statements.ts";

/** Ids that a write requires to be unused: of an item, of a key, of an input. */
export type Unused = readonly [item: Buffer | null, key: Buffer | null, input: Buffer | null];

/** Requires nothing. */
export const noneUnused: Unused = [null, null, null];

/** Binds a statement to a session. */
export type Bind = (name: StatementName, ...values: readonly unknown[]) => Bound;

/** A lookup as statements, and the reader of their rows once the session's row is known. */
export interface BoundLookup {
  readonly statements: readonly Bound[];
  readonly read: (row: StoreRow, answers: readonly Rows[]) => Found;
}

/** The types of facts about an input or an approval, and of those that may undo them. */
const typesOf: Readonly<Record<PeopleFact["type"], readonly [own: Types, others: Types]>> = {
  input_accepted: [["input_accepted"], []],
  queue_updated: [
    ["input_accepted", "queue_updated", "item_committed", "item_replaced"],
    ["session_claimed"],
  ],
  approval_resolved: [
    ["approval_requested", "approval_resolved"],
    ["run_started", "run_finished", "session_claimed"],
  ],
};
type Types = readonly FactBody["type"][];

/** The statements that find what a call is decided by. */
export function bindLookup(lookup: Lookup, bind: Bind): BoundLookup {
  const { itemId, key, about, by, all = false } = lookup;
  const statements: Bound[] = [];
  /** Adds a statement. Returns the index of its rows among the answers. */
  const add = (...[name, ...values]: Parameters<Bind>): number =>
    statements.push(bind(name, ...values)) - 1;
  const item = itemId === undefined ? undefined : add("item", encodeId(itemId));
  const keyed = key === undefined ? undefined : add("keyed", encodeKey(key));
  const people = about && add("about", encodeId(idOf(about)), ...typesOf[about.type]);
  const engine = by === undefined ? undefined : add("claimed", encodeId(by));
  const whole = all ? add("read", 0, null) : undefined;
  return {
    statements,
    read: (row, answers) => {
      const factsAt = (place: number | undefined): readonly Fact[] =>
        readFacts(row.uid, place === undefined ? [] : answers[place]);
      const [stored] = factsAt(item);
      return {
        item: stored && itemOf(stored),
        keyed: factsAt(keyed)[0],
        claimed: engine === undefined ? undefined : readClaimed(answers[engine]),
        about: subjectOf(row, factsAt(people)),
        all: factsAt(whole),
      };
    },
  };
}

/** The incarnation that an engine's run has claimed. Undefined: it never has. */
export function readClaimed([row]: Rows = []): number | undefined {
  return row && Number(row["incarnation"]);
}

/** Decodes the bodies of facts. */
export function readFacts(uid: SessionUid, rows: Rows = []): readonly Fact[] {
  return rows.map(({ body }) => readBody(uid, body));
}

/** What must be unused for a call to be stored without a lookup. Undefined if ids alone can't decide it. */
export function unusedOf({ itemId, key, about, all = false }: Lookup): Unused | undefined {
  if (all || (about !== undefined && about.type !== "input_accepted")) return undefined;
  return [
    itemId === undefined ? null : encodeId(itemId),
    key === undefined ? null : encodeKey(key),
    about === undefined ? null : encodeId(idOf(about)),
  ];
}

/** The id of the input or the approval that a person's call is about. */
function idOf(body: PeopleFact): string {
  return body.type === "approval_resolved" ? body.approvalId : body.inputId;
}

function itemOf(fact: Fact): Item {
  if (fact.type === "item_committed" || fact.type === "item_replaced") return fact.item;
  throw new MillraceError("corrupt_session", `fact ${fact.n} of ${fact.sessionId} holds no item`);
}
