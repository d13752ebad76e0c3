import type { AnyTools } from "@millrace/core/reading";
import { connectionOf, initialMachine } from "../connection/machine.ts";
import { showSession } from "../session/show.ts";
import type { ClientSession, ClientView } from "../session/types.ts";
import { WatchedSession } from "../stream/watched.ts";

/** One for each view: components that show one session share it. */
const snapshots = new WeakMap<ClientView, ClientSession>();
const firstViews = new WeakMap<ClientSession, ClientView>();

/**
 * A session as one view shows it, with the session's own functions: what it shows never changes, while the
 * session itself goes on. The same object for the same view. Costs a copy of references.
 */
export function snapshotOf<Tools extends AnyTools>(
  session: ClientSession<Tools>,
  view: ClientView<Tools>,
): ClientSession<Tools> {
  const known = snapshots.get(view);
  if (known !== undefined) return known;
  const made = Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(session),
    ...Object.getOwnPropertyDescriptors(view),
  } as PropertyDescriptorMap) as ClientSession<Tools>; // it has the fields of both
  snapshots.set(view, made);
  return made;
}

/**
 * What a server renders, and what a page shows while it takes over what the server rendered: nothing came
 * yet. The same object for the same session.
 */
export function firstViewOf<Tools extends AnyTools>(
  session: ClientSession<Tools>,
): ClientView<Tools> {
  let view = firstViews.get(session);
  if (view === undefined) {
    const connection = connectionOf(initialMachine);
    const nothing = new WatchedSession(session.id);
    view = showSession(nothing, { waiting: [] }, { connection, machine: initialMachine });
    firstViews.set(session, view);
  }
  return view;
}
