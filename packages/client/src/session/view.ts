import { project, MillraceError } from "@millrace/core";
import type {
  Cause,
  InputId,
  SessionId,
  SessionUid,
  Item,
  SessionState,
  View,
  ViewItem,
} from "@millrace/core";
import { emptyState } from "@millrace/core/reading";
import { decodeItem } from "@millrace/core/wire";
import { List } from "@millrace/core/writing";
import type { Machine } from "../connection/machine.ts";
import type { Connector } from "../stream/connector.ts";
import type { WatchedSession, OlderItems } from "../stream/watched.ts";
import type { Sender } from "./sender.ts";
import type { ClientView } from "./types.ts";

/** Makes the view of a session. Costs what is new since the last one, and a copy of references. */
export function showSession(
  { id, state, older, ended }: WatchedSession,
  { waiting }: Pick<Sender, "waiting">,
  { connection, machine, fault }: Pick<Connector, "connection" | "machine" | "fault">,
): ClientView {
  const known = state ?? emptyState("" as SessionUid, id as SessionId); // shown only, never applied to
  const view = project(known);
  const queued = new Set<string>(view.queue.map((input) => input.id));
  const underWay = waiting.flatMap(({ key, shown }) => {
    const inputId = `input_${key}` as InputId; // as the server makes it
    return shown === undefined || queued.has(inputId) ? [] : [{ id: inputId, ...shown }];
  });
  const shown = {
    ...view,
    ...withOlder(view, known, older),
    queue: underWay.length === 0 ? view.queue : [...view.queue, ...underWay],
    error: refusalOf(ended, machine) ?? fault ?? view.error,
    connection,
    head: known.head,
    loading: state === undefined && ended === undefined,
  };
  return shown as ClientView; // tools are known by type only
}

/** Why nothing is shown. A missing session is none: its first prompt makes it. Nor is a sub-agent that has finished. */
function refusalOf(ended: WatchedSession["ended"], { refusal }: Machine): Cause | undefined {
  if (ended !== undefined && ended !== "not_found" && ended !== "finished")
    return { code: ended, message: `the session is ${ended}` };
  if (refusal === undefined) return undefined;
  if ("reason" in refusal) return { code: refusal.reason, message: messageOf(refusal.reason) };
  const code = refusal.status === 401 ? "unauthenticated" : `http_${refusal.status}`;
  return { code, message: `the server answered ${refusal.status}` };
}

function messageOf(reason: string): string {
  return reason === "unsupported_version"
    ? "the server's protocol is of another version: load the page anew"
    : "the server ended the stream";
}

/** A page as the server answers it. */
interface Page {
  readonly items: readonly { readonly item: unknown }[];
  readonly next?: string;
}

/** Makes what loads the page before all that is there. Calls that overlap load one page. */
export function earlierLoader(
  session: WatchedSession,
  read: (query: string) => Promise<unknown>,
): (limit?: number) => Promise<boolean> {
  let underWay: Promise<boolean> | undefined;
  const load = async (limit: number | undefined): Promise<boolean> => {
    const { state, older } = session;
    const from = older === undefined ? state?.earlier && state.items.at(0)?.id : older.from;
    if (state === undefined || from === undefined) return false;
    const query = new URLSearchParams({ before: from });
    if (limit !== undefined) query.set("limit", String(limit));
    const { items, next } = (await read(`?${query.toString()}`)) as Page; // of our server
    // A snapshot came meanwhile, and begins elsewhere: the page does not fit to it.
    const isSame = session.state?.earlier?.before === state.earlier?.before;
    if (session.older !== older || !isSame) return session.state?.earlier !== undefined;
    session.older = { items: [...items.map(itemOf), ...(older?.items ?? [])], from: next };
    return next !== undefined;
  };
  return (limit) => (underWay ??= load(limit).finally(() => (underWay = undefined)));
}

function itemOf({ item }: Page["items"][number]): Item {
  const decoded = decodeItem(item);
  if (decoded.ok) return decoded.value;
  throw new MillraceError("refused", `an item can't be read: ${decoded.fault.code}`);
}

/** What a view shows of older items: they are before its own. */
export function withOlder(
  view: View,
  state: SessionState,
  older: OlderItems | undefined,
): Pick<View, "items" | "earlier"> {
  const { items, earlier } = view;
  if (older === undefined) return { items, earlier };
  const { count, before } = earlier ?? { count: 0, before: 0 };
  const left = { count: Math.max(1, count - older.items.length), before };
  return {
    items: [...viewsOf(older, state), ...items],
    earlier: older.from === undefined ? undefined : left,
  };
}

/** Views by the items that they show; they hold until answers to their last calls come. */
const known = new WeakMap<
  OlderItems,
  { readonly answers: readonly Item[]; readonly views: readonly ViewItem[] }
>();

function viewsOf(older: OlderItems, state: SessionState): readonly ViewItem[] {
  const answers = leadingAnswers(state);
  const before = known.get(older);
  if (before?.answers.at(-1) === answers.at(-1) && before !== undefined) return before.views;
  const items = List.of([...older.items, ...answers]);
  const views = project({ ...emptyState(state.uid, state.sessionId), items }).items;
  known.set(older, { answers, views });
  return views;
}

/** Answers at the beginning of a state belong to calls that are before it. They are shown on their calls. */
function leadingAnswers({ items }: SessionState): readonly Item[] {
  const answers: Item[] = [];
  for (const item of items) {
    if (item.parts.length === 0 || item.parts.some(({ kind }) => kind !== "tool_result")) break;
    answers.push(item);
  }
  return answers;
}
