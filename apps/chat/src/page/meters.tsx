import { memo } from "react";
import type { ReactNode } from "react";
import type { Item, Session } from "./client.ts";
import type { ChatModel } from "../shared.ts";

interface MetersProps {
  readonly items: readonly Item[];
  readonly usage: Session["usage"];
  readonly model: ChatModel | undefined;
}

/** The model, how full its context is, and what the session has used. Missing values are shown as unknown. */
export const Meters = memo(({ items, usage, model }: MetersProps): ReactNode => {
  const last = items.findLast((item) => item.usage !== undefined)?.usage;
  const inContext = last === undefined ? 0 : last.inputTokens + last.outputTokens;
  const { inputTokens, outputTokens, cachedTokens, cost } = usage;
  const isUsed = inputTokens + outputTokens > 0;
  const cached = cachedTokens > 0 ? `, ${short(cachedTokens)} of it cached` : "";
  const price = cost === undefined ? "cost unknown" : dollars(cost);
  return (
    <div className="meters">
      <Ring tokens={inContext} window={model?.window} />
      <span className="wide" title={`${inputTokens} tokens in${cached}, ${outputTokens} out`}>
        {short(inputTokens)} in · {short(outputTokens)} out
      </span>
      <span title="Cost of this session so far">{isUsed ? price : dollars(0)}</span>
    </div>
  );
});

interface RingProps {
  readonly tokens: number;
  readonly window: number | undefined;
}

const radius = 7;
const round = 2 * Math.PI * radius;

function Ring({ tokens, window }: RingProps): ReactNode {
  const share = window === undefined ? undefined : Math.min(1, tokens / window);
  const percent = share === undefined ? undefined : Math.round(share * 100);
  const says =
    percent === undefined
      ? `Context: ${tokens.toLocaleString("en")} tokens of an unknown window`
      : `Context: ${tokens.toLocaleString("en")} of ${window?.toLocaleString("en")} tokens, ${percent} %`;
  return (
    <span className="ring" role="img" aria-label={says} title={says}>
      <svg viewBox="0 0 18 18" aria-hidden="true">
        <circle cx="9" cy="9" r={radius} />
        <circle
          className="full"
          cx="9"
          cy="9"
          r={radius}
          strokeDasharray={`${(share ?? 0) * round} ${round}`}
          data-high={(share ?? 0) > 0.8}
        />
      </svg>
      {percent === undefined ? "?" : `${percent} %`}
    </span>
  );
}

/** A number as people use it: `940`, `12.1k`, `1.2M`. */
function short(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1e6 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1e6).toFixed(1)}M`;
}

function dollars(cost: number): string {
  return cost > 0 && cost < 0.01 ? "< $0.01" : `$${cost.toFixed(2)}`;
}
