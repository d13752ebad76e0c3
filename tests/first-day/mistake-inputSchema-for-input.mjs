import { defineAgent, defineTool, narrateTo } from "@millrace/agent";
import { z } from "zod";
defineTool({ name: "weather", inputSchema: z.object({}), run: () => 1 });