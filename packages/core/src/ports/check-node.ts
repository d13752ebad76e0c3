/** The oldest Node that has all that is used, as in `engines` of every package. */
const oldest = [22, 19] as const;

/** What is used of the global `process`, where there is one. */
interface NodeProcess {
  readonly versions?: Readonly<Record<string, string | undefined>>;
}

/**
 * Throws in a Node that is too old. It runs when this module is loaded, which is before any other module
 * of Millrace that needs a newer one: the first error then names the cause. Other engines pass.
 */
function checkNode({ versions = {} }: NodeProcess): void {
  const { node, bun, deno } = versions;
  if (node === undefined || bun !== undefined || deno !== undefined) return;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  const error = new Error(
    `Millrace needs Node ${oldest.join(".")} or later, and this is Node ${node}: install a newer one, such as by "nvm install 24"`,
  );
  // No stack: the cause is none of the program's lines.
  throw Object.assign(error, { stack: `${error.name}: ${error.message}` });
}

checkNode((globalThis as { readonly process?: NodeProcess }).process ?? {});
