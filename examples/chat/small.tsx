// The smallest chat: what was written, a field, and a button to stop. page.tsx is the whole one.
import { createClient } from "@millrace/client";
import { useSession } from "@millrace/client/react";
import { useState } from "react";
import type { ReactNode } from "react";
import type { millrace } from "./server.ts";

// #region chat
const client = createClient<typeof millrace>({ url: "/agent" });

export function SmallChat({ id }: { id: string }): ReactNode {
  const { items, status, send, abort } = useSession(client, id);
  const [text, setText] = useState("");
  return (
    <main aria-busy={status === "running"}>
      {items.map((item) => (
        <p key={item.id}>{item.parts.map((part) => (part.kind === "text" ? part.text : ""))}</p>
      ))}
      <form action={() => void send(text)}>
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        <button>Send</button>
        <button type="button" disabled={status === "idle"} onClick={() => abort()}>
          Stop
        </button>
      </form>
    </main>
  );
}
// #endregion
