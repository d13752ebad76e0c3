import type { AnyTools } from "@millrace/core/reading";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { Client, SessionQuery } from "./client.ts";
import { inFrames } from "./react/frames.ts";
import { SessionListStore } from "./react/session-list.ts";
import type { SessionListView } from "./react/session-list.ts";
import type { ClientSession, ClientView } from "./session/types.ts";
import { connectionOf, initialMachine } from "./connection/machine.ts";
import { showSession } from "./session/view.ts";
import { WatchedSession } from "./stream/watched.ts";

// Sessions in React components. Rendering makes no request and keeps nothing alive: a session is watched
// while a component that shows it is mounted.

export type { SessionListView } from "./react/session-list.ts";

/** The lists of a client that are shown. */
const viewsByOrigin = new WeakMap<object, Set<SessionListStore>>();

/**
 * A session as it stands, and its functions. The component renders at most once per frame, whatever the
 * stream brings; items, parts and functions that did not change are the same objects, so that `memo` skips
 * them. On a server, and until something came, `loading` is true and there are no items.
 */
export function useSession<Tools extends AnyTools>(
  client: Client<Tools>,
  id: string,
): ClientSession<Tools> {
  const session = client.session(id);
  const subscribe = useCallback(
    (notify: () => void) => {
      const frames = inFrames(notify);
      let { status } = session;
      const leave = session.subscribe((view) => {
        frames.ask();
        if (view.status === status) return;
        ({ status } = view);
        for (const list of viewsByOrigin.get(client) ?? []) list.touch();
      });
      return () => {
        leave();
        frames.end();
      };
    },
    [client, session],
  );
  return useSyncExternalStore(
    subscribe,
    () => snapshotOf(session, session.view()),
    () => snapshotOf(session, firstViewOf(session)),
  );
}

/** What `useSessions` gives. */
export interface SessionsView extends SessionListView {
  /** Adds a page of older sessions. Never rejects. */
  readonly loadMore: () => Promise<void>;
  /** Reads the list again now. Never rejects. */
  readonly refresh: () => Promise<void>;
}

/**
 * The own sessions that a query finds, those with the newest activity first. Read when the component is
 * mounted, after a run of a session that this page shows begins or ends, and every 10 seconds while the page
 * is visible. A session that did not change is the same object.
 */
export function useSessions<Tools extends AnyTools>(
  client: Client<Tools>,
  query: Omit<SessionQuery, "after"> = {},
): SessionsView {
  const { q, status, parent, limit } = query;
  const store = useMemo(
    () =>
      new SessionListStore(
        (after) => client.sessions({ q, status, parent, limit, after }),
        client.clock,
      ),
    [client, q, status, parent, limit],
  );
  const subscribe = useCallback(
    (notify: () => void) => {
      const shown = viewsByOrigin.get(client) ?? new Set();
      viewsByOrigin.set(client, shown.add(store));
      const leave = store.subscribe(notify);
      return () => {
        shown.delete(store);
        leave();
      };
    },
    [client, store],
  );
  const view = useSyncExternalStore(subscribe, store.view, store.firstView);
  return useMemo(() => {
    const { loadMore, refresh } = store;
    return { ...view, loadMore, refresh };
  }, [view, store]);
}

/** One for each view: components that show one session share it. */
const snapshots = new WeakMap<ClientView, ClientSession>();
const firstViews = new WeakMap<ClientSession, ClientView>();

/**
 * A session as one view shows it, with the session's own functions: what it shows never changes, while the
 * session itself goes on. The same object for the same view. Costs a copy of references.
 */
function snapshotOf<Tools extends AnyTools>(
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
function firstViewOf<Tools extends AnyTools>(session: ClientSession<Tools>): ClientView<Tools> {
  let view = firstViews.get(session);
  if (view === undefined) {
    const connection = connectionOf(initialMachine);
    const nothing = new WatchedSession(session.id);
    const connector = { connection, machine: initialMachine, fault: undefined };
    view = showSession(nothing, { waiting: [] }, connector);
    firstViews.set(session, view);
  }
  return view;
}
