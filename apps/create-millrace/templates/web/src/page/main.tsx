// The page shows the session that its address names: a reload, a second tab and a colleague's link show the same
// one, in the middle of a word.
import { createClient } from "@millrace/client";
import { StrictMode, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import type { Served } from "../serve.ts";
import { Chat } from "./chat.tsx";
import { savedToken, SignedIn } from "./sign-in.tsx";

const client = createClient<Served>({ url: "/agent", token: savedToken() });
export type PageClient = typeof client;

function follow(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

function App() {
  if (location.hash.length < 2) location.replace(`#${crypto.randomUUID()}`);
  const id = useSyncExternalStore(follow, () => location.hash.slice(1));
  return <Chat key={id} client={client} id={id} />;
}

const root = document.querySelector("#root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <SignedIn>
        <App />
      </SignedIn>
    </StrictMode>,
  );
