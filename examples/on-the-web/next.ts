// Next: a file app/api/agent/[...path]/route.ts, with BASE_PATH=/api/agent, since Next does not strip its mount.
import { millrace } from "./millrace.ts";

// #region mount
export const GET = millrace.fetch;
export const POST = millrace.fetch;
export const PATCH = millrace.fetch;
export const DELETE = millrace.fetch;
// #endregion
