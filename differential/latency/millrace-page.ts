import { createClient } from "@millrace/client";
import type { ClientView } from "@millrace/client";
import { useSession } from "@millrace/client/react";
import { createElement } from "react";
import type { ReactElement } from "react";
import { createRoot } from "react-dom/client";
import { install, take } from "./probe.ts";

const client = createClient({ url: "/agent" });

function replyIn({ items }: ClientView): string {
  const last = items.at(-1)?.parts.at(-1);
  return last?.kind === "text" ? last.text : "";
}

function Talk(): ReactElement {
  return createElement("p", { id: "reply" }, replyIn(useSession(client, "talk")));
}

client.session("talk").subscribe((view) => take(replyIn(view)));
createRoot(document.querySelector("#root") ?? document.body).render(createElement(Talk));
install(() => void client.session("talk").send("Go"));
