/** Which defects of `tests/planted` histories find, and which they can't. */

/** Each with the seed that is played first. */
export const foundPlants: readonly (readonly [name: string, first: number])[] = [
  ["01-announce-before-store", 2],
  ["02-tool-before-intent", 1],
  ["03-rerun-started-tool", 3],
  ["12-head-not-compared", 10],
  ["13-epochs-reused", 1],
  ["14-key-not-remembered", 2],
  ["30-superseded-text-kept", 3],
  ["32-lane-gap-ignored", 4],
  ["35-effect-key-changes", 1],
  ["42-order-batches-taken-twice", 2],
  ["43-order-facts-taken-twice", 1],
  ["46-order-one-floor-for-all-lanes", 1],
  ["59-order-reader-does-not-poll", 7],
  ["68-order-poll-moves-the-cursor", 4],
  ["73-order-numbers-begin-again", 8],
  ["76-order-one-generation", 1],
  // R1: a subscription that is lost stays lost.
  ["115-no-second-subscription", 3],
  // R5: drivers claim one after the other, and each asks the model.
  ["119-claim-without-a-head", 1],
  ["120-orphans-not-looked-for", 4],
  ["180-foreign-is-forbidden", 1],
  ["181-missing-says-more-than-foreign", 1],
  ["203-two-streams", 1],
  ["210-message-to-another-session", 1],
  ["211-repeat-with-another-key", 1],
  // B1: a reader of Responses that comes back gets the rest of another attempt.
  ["261-base-is-never-stale", 11],
  ["268-waiting-request-gets-the-run-before", 4],
  // A1: a user makes the session in which another one's sub-agent is to work.
  ["269-name-of-a-sub-agent-is-free", 1],
  // B2: a post on a connection that died is waited for without end.
  ["381-request-without-limit", 3],
];

/** How many of them have to be found. */
export const neededPlants = 22;

/** Defects of which nothing shows in a history, and why. */
export const unfoundPlants: Readonly<Record<string, string>> = {
  // T1
  "a fact that is announced is taken for stored":
    "drivers are sent numbers only, and read the store: no small edit makes them take a fact. What forges messages is in packages/agent/src/session/forged.test.ts",
  "10-commit-without-fence":
    "a worker never opens an attempt before it knows what became of the one before, so an old attempt of the same incarnation commits nothing; only an engine that repeats a step beside its first worker has two",
};
