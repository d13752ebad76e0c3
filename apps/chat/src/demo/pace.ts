/** Pauses of the demo are multiplied by this: 1 for people, less for tests. */
export const pace: number = Number(process.env["DEMO_PACE"] ?? 1);
