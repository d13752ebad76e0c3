// What an application has of its own, for the program of the browser: as its components are declared.
import type { ClientSession } from "@millrace/client";
import type { ReactNode } from "react";

type Session = ClientSession;
type Shows<Props> = (props: Props) => ReactNode;

export declare const auth: { readonly token: () => Promise<string> };
export declare const Approval: Shows<{
  readonly ask: { readonly id: string; readonly tool: string; readonly input: object };
  readonly onAllow: Session["allow"];
  readonly onDeny: Session["deny"];
}>;
export declare const Composer: Shows<{
  readonly onSend: (text: string) => void;
  readonly onSteer: (text: string) => void;
  readonly onStop: () => void;
  readonly queue: Session["queue"];
  readonly onTakeBack: (inputId: string) => void;
}>;
export declare const Banner: Shows<object>;
export declare const Failure: Shows<{ readonly code: string }>;
export declare const Forecast: Shows<{ readonly celsius: number }>;
export declare const Markdown: Shows<{ readonly live: boolean; readonly children: string }>;
export declare const ToolCard: Shows<{ readonly tool: string; readonly state: string }>;
