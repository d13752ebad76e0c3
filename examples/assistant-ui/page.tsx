// The page. Its address names the session: a refresh, or a second tab, shows the same one.
import { AssistantRuntimeProvider } from "@assistant-ui/react";
import { createClient } from "@millrace/client";
import { ConnectionBanner } from "@millrace/client/parts";
import { useSession } from "@millrace/client/react";
import { StrictMode, useState } from "react";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { useMillraceRuntime } from "./runtime.ts";
import { Thread } from "./thread.tsx";

if (location.hash === "") location.replace(`#${crypto.randomUUID()}`);
const client = createClient({ url: "/agent" });

function Page(): ReactNode {
  const session = useSession(client, location.hash.slice(1));
  const [refusal, setRefusal] = useState<Error>();
  const runtime = useMillraceRuntime(session, { onRefused: setRefusal });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ConnectionBanner connection={session.connection} onReconnect={client.reconnect} />
      {refusal && <p role="alert">{refusal.message}</p>}
      <Thread />
    </AssistantRuntimeProvider>
  );
}

createRoot(document.querySelector("#root") ?? document.body).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
