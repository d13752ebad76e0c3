const sentences: Readonly<Record<string, (what: string) => string>> = {
  expired: () => "You are signed out. Sign in again to go on.",
  revoked: (what) => `You may no longer read this ${what}.`,
  not_found: (what) => `This ${what} is not there.`,
  removed: (what) => `This ${what} was removed.`,
};

/** The sentence for a reader whose stream could not be written to its end, with what it can do. */
export function interruption(reason: string, then: string, what = "conversation"): string {
  return sentences[reason]?.(what) ?? `The connection was ended. ${then}`;
}
