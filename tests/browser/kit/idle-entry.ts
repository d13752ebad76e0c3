// A page that does nothing but count its frames: what it misses, the machine took.
import { meter } from "./meter.ts";

Object.assign(globalThis, { meter });
