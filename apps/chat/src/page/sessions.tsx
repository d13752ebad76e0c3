import type { SessionDetails } from "@millrace/client";
import type { SessionsView } from "@millrace/client/react";
import { visibleText } from "@millrace/client/parts";
import { memo, useEffect, useState } from "react";
import type { ReactNode } from "react";
import { openSession } from "./address.ts";
import { seen } from "./client.ts";

interface SessionsProps {
  readonly list: SessionsView;
  readonly current: string;
  readonly isOpen: boolean;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly onClose: () => void;
}

/** All sessions of the person, by day, with a search. On a phone it covers the chat. */
export function Sessions(props: SessionsProps): ReactNode {
  const { list, current, isOpen, search, onSearch, onClose } = props;
  const [theme, nextTheme] = useTheme();
  const pick = (id?: string): void => {
    openSession(id);
    onClose();
  };
  return (
    <>
      <nav
        aria-label="Sessions"
        className={isOpen ? "open" : ""}
        onKeyDown={({ key }) => key === "Escape" && onClose()}
      >
        <div className="brand">
          <Wheel />
          Millrace
        </div>
        <button className="new" onClick={() => pick()}>
          New session
        </button>
        <input
          id="search"
          type="search"
          aria-label="Search sessions"
          placeholder="Search"
          value={search}
          onChange={({ target }) => onSearch(target.value)}
        />
        <div className="list">
          {byDay(list.sessions).map(([day, sessions]) => (
            <section key={day} aria-label={day}>
              <h2>{day}</h2>
              {sessions.map((session) => (
                <Row
                  key={session.id}
                  session={session}
                  isCurrent={session.id === current}
                  onPick={pick}
                />
              ))}
            </section>
          ))}
          {list.more && (
            <button className="quiet" onClick={() => void list.loadMore()}>
              Show older
            </button>
          )}
          {!list.loading && list.sessions.length === 0 && (
            <p className="nothing">{search === "" ? "No sessions yet." : "Nothing found."}</p>
          )}
          {list.error && <p className="nothing">The list can't be read: {list.error.code}</p>}
        </div>
        <button className="quiet theme" onClick={nextTheme}>
          Theme: {theme}
        </button>
      </nav>
      {isOpen && <button className="shade" aria-label="Close sessions" onClick={onClose} />}
    </>
  );
}

interface RowProps {
  readonly session: SessionDetails;
  readonly isCurrent: boolean;
  readonly onPick: (id: string) => void;
}

function Row({ session, isCurrent, onPick }: RowProps): ReactNode {
  const { id, title, status } = session;
  const mark = markOf(session, isCurrent);
  return (
    <button
      className="session"
      aria-current={isCurrent ? "page" : undefined}
      data-status={status}
      onClick={() => onPick(id)}
    >
      <bdi>{visibleText(title ?? "Untitled")}</bdi>
      {mark && (
        <span className={`dot ${mark[0]}`} role="img" aria-label={mark[1]} title={mark[1]} />
      )}
    </button>
  );
}

/** What a row is marked with. Colour is never the only sign: the dots differ in shape, and have a name. */
function markOf(
  session: SessionDetails,
  isCurrent: boolean,
): readonly [name: string, says: string] | undefined {
  if (session.status === "running") return ["run", "running"];
  if (session.status === "paused") return ["ask", "waits for you"];
  if (!isCurrent && seen.isUnread(session)) return ["unread", "finished while you were away"];
  return undefined;
}

type Day = readonly [string, readonly SessionDetails[]];

/** Sessions in groups: of today, of yesterday, and of each month before. */
function byDay(sessions: readonly SessionDetails[]): readonly Day[] {
  const groups = new Map<string, SessionDetails[]>();
  for (const session of sessions) {
    const day = dayOf(session.updatedAt);
    groups.set(day, [...(groups.get(day) ?? []), session]);
  }
  return [...groups];
}

function dayOf(time: number): string {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (time >= midnight) return "Today";
  if (time >= midnight - 86_400_000) return "Yesterday";
  return new Date(time).toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

const Wheel = memo(() => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="12" cy="11" r="6.2" />
    <path d="M12 4.8v12.4M5.8 11h12.4M7.6 6.6l8.8 8.8M16.4 6.6l-8.8 8.8" />
    <path d="M2 20.2c2 0 2-1.4 4-1.4s2 1.4 4 1.4 2-1.4 4-1.4 2 1.4 4 1.4 2-1.4 4-1.4" />
  </svg>
));

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const name = "chat:theme";

function kept(): Theme {
  const found = localStorage.getItem(name);
  return themes.find((theme) => theme === found) ?? "system";
}

/** The theme of this device, and the function that changes to the next one. */
function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(kept);
  useEffect(() => {
    // Every colour is a pair of `light-dark()`, so that this one property is all there is to change.
    document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
    localStorage.setItem(name, theme);
  }, [theme]);
  const next = (): void =>
    setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system");
  return [theme, next];
}
