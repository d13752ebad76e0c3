// A page of React that counts what renders. The same components are rendered on a server and in Chromium.
import { createClient } from "@millrace/client";
import type { PartOf } from "@millrace/client";
import { useSession, useSessions } from "@millrace/client/react";
import { StrictMode, Suspense, memo, use, useState } from "react";
import type { ReactElement } from "react";

export const client = createClient({ url: "/agent", shareTabs: false });

/** How often each part was rendered, by what it showed last: in StrictMode twice for each time. */
export const renders = new Map<string, number>();

const after = (ms: number): Promise<string> =>
  new Promise((resolve) => setTimeout(() => resolve("awaited"), ms));
const later = after(30);

const Part = memo(({ item, part }: { item: string; part: PartOf<typeof client> }) => {
  const name = `${item}/${part.id}`;
  renders.set(name, (renders.get(name) ?? 0) + 1);
  return <p>{part.kind === "text" ? part.text : part.kind}</p>;
});

const Talk = (): ReactElement => {
  const session = useSession(client, "talk");
  renders.set("talk", (renders.get("talk") ?? 0) + 1);
  return (
    <main aria-busy={session.status === "running"} data-loading={session.loading}>
      {session.items.map(({ id, parts, author }) => (
        <article key={id} className={author}>
          {parts.map((part) => (
            <Part key={part.id} item={id} part={part} />
          ))}
        </article>
      ))}
    </main>
  );
};

const List = (): ReactElement => {
  const { sessions, loading } = useSessions(client);
  return <nav>{loading ? "reading" : sessions.map(({ id, status }) => `${id} ${status}`)}</nav>;
};

const Awaited = (): ReactElement => {
  const [awaited, wait] = useState(later);
  return <button onClick={() => wait(after(300))}>{use(awaited)}</button>;
};

/** The page: a list, and a session in a boundary that waits for something else first, and whenever it is asked to. */
export const App = (): ReactElement => (
  <StrictMode>
    <List />
    <Suspense fallback={<p>one moment</p>}>
      <Awaited />
      <Talk />
    </Suspense>
  </StrictMode>
);

/** A page that waits for nothing: it can be rendered in one go. */
export const PlainApp = (): ReactElement => (
  <StrictMode>
    <List />
    <Talk />
  </StrictMode>
);
