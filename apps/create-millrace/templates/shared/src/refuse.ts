// How the program refuses to start.

/** Ends the program with one sentence that says what to do. */
export function refuse(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

/** Does so where others may reach it: in production, and as soon as an address or a name of its own is set. */
export function refuseOutsideDevelopment(sentence: string): void {
  const { NODE_ENV, HOST, HOSTS } = process.env;
  if (NODE_ENV === "production" || HOST || HOSTS) refuse(sentence);
}
