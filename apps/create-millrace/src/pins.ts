/** The versions that new projects begin with: those that this repository is tested with. A test compares them. */
export const pins = {
  "@redis/client": "6.3.1",
  "@temporalio/activity": "1.24.0",
  "@temporalio/client": "1.24.0",
  "@temporalio/common": "1.24.0",
  "@temporalio/worker": "1.24.0",
  "@temporalio/workflow": "1.24.0",
  "@types/node": "24.19.2",
  "@types/react": "19.3.0",
  "@types/react-dom": "19.3.0",
  pg: "8.23.1",
  react: "19.3.1",
  "react-dom": "19.3.1",
  typescript: "6.0.3",
  vite: "8.3.4",
  zod: "4.6.7",
} as const satisfies Readonly<Record<string, string>>;

export type Pinned = keyof typeof pins;
