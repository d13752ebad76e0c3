/** What to say if a Node can't run the creator and the projects that it makes: both are for 22.19 and later. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return undefined;
  return `Node 22.19 or later is needed, and this is ${version}`;
}
