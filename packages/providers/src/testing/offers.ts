import type { VendorTool } from "@millrace/core/model";
import type { Protocol, ReplyContext } from "../protocol.ts";
import { byCallName, nativeToolsOf } from "../protocols/native-tools.ts";
import { wireNames } from "../protocols/tool-names.ts";
import type { WireNames } from "../protocols/tool-names.ts";

type Offering = Pick<Protocol<never, never>, "nativeTool">;

/** What a reply is read with if these tools of vendors were offered, each under its kind as its name. */
export function offeredContext(
  protocol: Offering,
  offers: readonly VendorTool[] = [],
): { readonly context: ReplyContext; readonly names: WireNames } {
  const tools = offers.map((vendor) => ({
    name: vendor.kind,
    input: {},
    vendor: { ...vendor, native: true },
  }));
  const native = nativeToolsOf(tools, protocol, "test");
  const names = wireNames(
    tools.map(({ name }) => name),
    [],
    native,
  );
  const context = {
    model: "test",
    tools: [...native.values()].flatMap((tool) => tool.names),
    takenCallIds: new Set<string>(),
    ...(native.size === 0 ? {} : { native: byCallName(native) }),
  };
  return { context, names };
}
