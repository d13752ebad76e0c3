import { ApprovalCard, ConnectionBanner, InputQueue, visibleText } from "@millrace/client/parts";
import { useSession } from "@millrace/client/react";
import { useLayoutEffect, useRef } from "react";
import { Composer } from "./composer.tsx";
import { ItemView } from "./item.tsx";
import type { PageClient } from "./main.tsx";

const ideas = ["Hello", "My lamp arrived broken"];

/** One session: what was said, what goes on, what waits for a person, and where to write. */
export function Chat({ client, id }: { readonly client: PageClient; readonly id: string }) {
  const session = useSession(client, id);
  const { items, approvals, queue, status, error, loading } = session;
  const isNew = !loading && items.length === 0 && queue.length === 0;
  return (
    <main aria-busy={status === "running"} data-status={status}>
      <header>
        <h1>millrace-app</h1>
        <a href={`#${crypto.randomUUID()}`}>New session</a>
      </header>
      <ConnectionBanner connection={session.connection} onReconnect={client.reconnect} />
      <Scroll>
        {isNew && (
          <div className="hello">
            <p>What can I do for you?</p>
            {ideas.map((idea) => (
              <button key={idea} type="button" onClick={() => session.send(idea)}>
                {idea}
              </button>
            ))}
          </div>
        )}
        {items.map((item) => (
          <ItemView key={item.id} item={item} />
        ))}
        {approvals.map((ask) => (
          <ApprovalCard key={ask.id} ask={ask} onAllow={session.allow} onDeny={session.deny} />
        ))}
        {error && <p role="alert">{visibleText(error.message)}</p>}
      </Scroll>
      <footer>
        <InputQueue queue={queue} onTakeBack={session.takeBack} />
        <Composer session={session} />
      </footer>
    </main>
  );
}

/** Follows what is written, until somebody scrolls up. */
function Scroll({ children }: { readonly children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  });
  return (
    <div
      ref={box}
      className="scroll"
      tabIndex={0}
      role="log"
      aria-label="Messages"
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 40;
      }}
    >
      <div className="column">{children}</div>
    </div>
  );
}
