/** Which defects of `tests/planted` histories find, and which they can't. */

/** Each with the seed that is played first. */
export const foundPlants: readonly (readonly [name: string, first: number])[] = [
  ["01-announce-before-store", 1],
  ["02-tool-before-intent", 1],
  ["03-rerun-started-tool", 1],
  ["12-head-not-compared", 1],
  ["13-epochs-reused", 1],
  ["14-key-not-remembered", 1],
  ["30-superseded-text-kept", 1],
  ["32-lane-gap-ignored", 1],
  ["35-effect-key-changes", 1],
  ["42-order-batches-taken-twice", 1],
  ["43-order-facts-taken-twice", 1],
  ["46-order-one-floor-for-all-lanes", 1],
  ["59-order-reader-does-not-poll", 1],
  ["68-order-poll-moves-the-cursor", 1],
  ["73-order-numbers-begin-again", 1],
  ["76-order-one-generation", 1],
  // R1: a subscription that is lost stays lost.
  ["115-no-second-subscription", 1],
  ["120-orphans-not-looked-for", 1],
  ["180-foreign-is-forbidden", 1],
  ["181-missing-says-more-than-foreign", 1],
  ["203-two-streams", 1],
  ["210-message-to-another-session", 1],
  ["211-repeat-with-another-key", 1],
  // B1: a reader of Responses that comes back gets the rest of another attempt.
  ["261-base-is-never-stale", 11],
  ["268-waiting-request-gets-the-run-before", 1],
  // A1: a user makes the session in which another one's sub-agent is to work.
  ["269-name-of-a-sub-agent-is-free", 1],
  // B2: a post on a connection that died is waited for without end.
  ["381-request-without-limit", 2],
];

/** How many of them have to be found. */
export const neededPlants = 22;

/** Defects of which nothing shows in a history, and why. */
export const unfoundPlants: Readonly<Record<string, string>> = {
  "10-commit-without-fence":
    "a worker never opens an attempt before it knows what became of the one before, so an old attempt of the same incarnation commits nothing; only an engine that repeats a step beside its first worker has two",
};
