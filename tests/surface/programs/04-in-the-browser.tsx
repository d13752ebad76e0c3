// In the browser.
import { createClient, type PartOf } from "@millrace/client";
import { useSession } from "@millrace/client/react";
import type { ReactNode } from "react";
import type { millrace } from "./03-on-the-web.ts";
import {
  Approval,
  Banner,
  Composer,
  Failure,
  Forecast,
  Markdown,
  ToolCard,
  auth,
} from "./04-components.ts";

const client = createClient<typeof millrace>({ url: "/agent", token: () => auth.token() });

export function Chat({ id }: { id: string }): ReactNode {
  const session = useSession(client, id);
  return (
    <main aria-busy={session.status === "running"}>
      {session.items.map((item) => (
        <article key={item.id} className={item.author}>
          {item.parts.map((part) => (
            <Part key={part.id} part={part} />
          ))}
        </article>
      ))}
      {session.approvals.map((ask) => (
        <Approval key={ask.id} ask={ask} onAllow={session.allow} onDeny={session.deny} />
      ))}
      <Composer
        onSend={session.send}
        onSteer={session.steer}
        onStop={session.abort}
        queue={session.queue}
        onTakeBack={session.takeBack}
      />
      {session.connection === "reconnecting" && <Banner />}
      {session.error && <Failure code={session.error.code} />}
    </main>
  );
}

function Part({ part }: { part: PartOf<typeof client> }): ReactNode {
  if (part.kind === "text") return <Markdown live={part.live}>{part.text}</Markdown>;
  if (part.kind !== "tool_call") return null;
  if (part.tool === "weather" && part.state === "finished")
    return <Forecast celsius={part.output.celsius} />;
  return <ToolCard tool={part.tool} state={part.state} />; // writing, waiting, running, finished, failed, denied, unknown
}
