import { createClient } from "@millrace/client";
import { terminalLine } from "@millrace/agent/terminal";
import { MillraceError } from "@millrace/core";

/** As many sessions as are listed. */
const most = 1_000;

export type Listed =
  | { readonly lines: readonly string[] }
  | { readonly lines?: undefined; readonly problem: string };

/** One line for each session of the user at a server, the latest first: its name, when it was used, its title. */
export async function listRemote({
  url,
  token,
}: {
  readonly url: string;
  readonly token: string | undefined;
}): Promise<Listed> {
  using client = createClient({ url, token });
  const lines: string[] = [];
  try {
    let after: string | undefined;
    do {
      const page = await client.sessions({ after });
      lines.push(...page.sessions.map(lineOf));
      after = page.next;
    } while (after !== undefined && lines.length < most);
  } catch (error) {
    if (!MillraceError.is(error)) throw error;
    return { problem: `${terminalLine(url)}: ${terminalLine(error.message, 400)}` };
  }
  return { lines };
}

function lineOf({
  id,
  title,
  updatedAt,
  status,
}: {
  readonly id: string;
  readonly title?: string;
  readonly updatedAt: number;
  readonly status: string;
}): string {
  const when = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
  const state = status === "idle" ? "" : `(${status}) `;
  return `${terminalLine(id)}  ${when}  ${state}${terminalLine(title ?? "", 60)}`.trimEnd();
}
