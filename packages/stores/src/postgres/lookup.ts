import { MillraceError } from "@millrace/core";
import { subjectOf } from "@millrace/core/ports";
import type { Fact, Item, SessionUid } from "@millrace/core";
import type { Found, Lookup, PeopleFact, StoreRow } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import type { Bound, Rows } from "./connection.ts";
import { readBody } from "./fact-row.ts";
import { encodeId, encodeKey } from "./row.ts";
import type { Statements } from "./statements.ts";

/** Ids that a write takes for unused: of an item, of a key, of an input. */
export type Unused = readonly [item: Buffer | null, key: Buffer | null, input: Buffer | null];

/** Takes nothing for unused. */
export const noneUnused: Unused = [null, null, null];

/** Binds a statement to a session. */
export type Bind = (name: keyof Statements, ...values: readonly unknown[]) => Bound;

/** A lookup as statements, and what their rows say once the session's row is known. */
export interface BoundLookup {
  readonly statements: readonly Bound[];
  readonly read: (row: StoreRow, answers: readonly Rows[]) => Found;
}

/** The facts about an input or a question, and those that may undo them. */
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

/** The statements that find what a call needs to know. */
export function bindLookup(lookup: Lookup, bind: Bind): BoundLookup {
  const { itemId, key, about, all = false } = lookup;
  const statements: Bound[] = [];
  /** Gives the place of a statement's rows among the answers. */
  const ask = (...[name, ...values]: Parameters<Bind>): number =>
    statements.push(bind(name, ...values)) - 1;
  const item = itemId === undefined ? undefined : ask("item", encodeId(itemId));
  const keyed = key === undefined ? undefined : ask("keyed", encodeKey(key));
  const people = about && ask("about", encodeId(idOf(about)), ...typesOf[about.type]);
  const whole = all ? ask("read", 0, null) : undefined;
  return {
    statements,
    read: (row, answers) => {
      const factsAt = (place: number | undefined): readonly Fact[] =>
        readFacts(row.uid, place === undefined ? [] : answers[place]);
      const [stored] = factsAt(item);
      return {
        item: stored && itemOf(stored),
        keyed: factsAt(keyed)[0],
        about: subjectOf(row, factsAt(people)),
        all: factsAt(whole),
      };
    },
  };
}

/** Reads the bodies of facts. */
export function readFacts(uid: SessionUid, rows: Rows = []): readonly Fact[] {
  return rows.map(({ body }) => readBody(uid, body));
}

/** What must be unused if a call is to be stored without a lookup. Nothing if ids can't decide it. */
export function unusedOf({ itemId, key, about, all = false }: Lookup): Unused | undefined {
  if (all || (about !== undefined && about.type !== "input_accepted")) return undefined;
  return [
    itemId === undefined ? null : encodeId(itemId),
    key === undefined ? null : encodeKey(key),
    about === undefined ? null : encodeId(idOf(about)),
  ];
}

/** The id of the input or the question that a person's call is about. */
function idOf(body: PeopleFact): string {
  return body.type === "approval_resolved" ? body.approvalId : body.inputId;
}

function itemOf(fact: Fact): Item {
  if (fact.type === "item_committed" || fact.type === "item_replaced") return fact.item;
  throw new MillraceError("corrupt_session", `fact ${fact.n} of ${fact.sessionId} holds no item`);
}
