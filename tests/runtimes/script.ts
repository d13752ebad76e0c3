/** What the model of the cases says to "Talk": long enough to be cut in its middle. */
export const talk: string = Array.from({ length: 40 }, (_, at) => `word ${at}`).join(", ");

/** A reply that fills a snapshot, so that earlier items are left out of it. */
export const long: string = "x".repeat(6_000);
