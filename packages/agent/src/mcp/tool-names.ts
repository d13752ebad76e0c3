/** A tool of a server with the name that models are given, or why it has none. */
export type NamedTool =
  | { readonly tool: string; readonly name: string }
  | { readonly tool: string; readonly reason: string };

/** How long a name may be with every vendor. */
const longest = 64;
/** `_` and 8 hexadecimal digits. */
const suffixLength = 9;

/**
 * Server names have no `_`, so the first one in a tool's name ends the server's. Two servers of
 * different names therefore never make the same tool name, whatever they call their tools.
 */
const serverName = /^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/;

export function isServerName(name: string): boolean {
  return serverName.test(name);
}

/**
 * Gives the tools of a server names that every vendor takes: `<server>_<tool>`. A name that had to
 * be changed gives way to one that is right as it is; those that are then alike, or too long, end in
 * a hash of the server's own name for them. So a tool's name depends on what tools there are, and
 * not on their order. Of tools with one and the same name the first counts: a call could not reach
 * the others. Answers in the order of the tools.
 */
export async function nameTools(
  server: string,
  tools: readonly string[],
): Promise<readonly NamedTool[]> {
  const plain = new Map(tools.map((tool) => [tool, plainName(server, tool)]));
  const wanted = Map.groupBy(plain.keys(), (tool) => plain.get(tool) ?? "");

  const named: NamedTool[] = [];
  const seen = new Set<string>();
  const hashed = new Set<string>();
  for (const tool of tools) {
    const name = plain.get(tool) ?? "";
    const isAlone = wanted.get(name)?.length === 1;
    if (tool === "") named.push({ tool, reason: "it has no name" });
    else if (seen.has(tool)) named.push({ tool, reason: "the server lists its name twice" });
    else if (name.length <= longest && (isAlone || name === `${server}_${tool}`)) {
      named.push({ tool, name });
    } else {
      const suffixed = `${name.slice(0, longest - suffixLength)}_${await hashOf(tool)}`;
      // Only a hostile server names a tool like the hashed name of another.
      const isFree = !wanted.has(suffixed) && !hashed.has(suffixed);
      hashed.add(suffixed);
      if (isFree) named.push({ tool, name: suffixed });
      else named.push({ tool, reason: "another tool has the name that it would get" });
    }
    seen.add(tool);
  }
  return named;
}

function plainName(server: string, tool: string): string {
  return `${server}_${tool.replaceAll(/[^A-Za-z0-9_-]/gu, "_")}`;
}

async function hashOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const digits = Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0"));
  return digits.join("").slice(0, suffixLength - 1);
}
