/** How long a test may take, in milliseconds: properties need more than the runner's default. */
export const patience: number =
  process.env["CAMPAIGN"] === "1"
    ? 24 * 3_600_000
    : process.env["NIGHTLY"] === "1"
      ? 15 * 60_000
      : 60_000;
