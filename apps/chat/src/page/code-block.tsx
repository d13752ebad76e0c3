import { isValidElement, memo, useState } from "react";
import type { ReactNode } from "react";
import { highlight } from "./highlight.ts";
import { reportFailure } from "./notices.tsx";

/** What Markdown makes of a fence: a `code` element with the language as its class. */
interface CodeProps {
  readonly className?: string;
  readonly children?: ReactNode;
}

/** A block of code with its language and a button that copies it. */
export function CodeBlock({ children }: { readonly children?: ReactNode }): ReactNode {
  const { className = "", children: text } = isValidElement<CodeProps>(children)
    ? children.props
    : { children };
  const code = textIn(text).replace(/\n$/, "");
  const language = /language-([\w+#-]+)/.exec(className)?.[1] ?? "";
  return (
    <figure className="code">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={code} />
      </figcaption>
      <pre tabIndex={0}>
        <Code code={code} />
      </pre>
    </figure>
  );
}

/** The text of what Markdown gives: strings, one or several. */
function textIn(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(textIn).join("");
  return typeof node === "string" ? node : "";
}

const Code = memo(({ code }: { readonly code: string }) => (
  <code>
    {highlight(code).map(({ kind, text }, at) =>
      kind === "plain" ? (
        text
      ) : (
        <span key={at} className={`t-${kind}`}>
          {text}
        </span>
      ),
    )}
  </code>
));

/** Copies a text, and shows a check mark for a moment. */
export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      className="quiet"
      onClick={() => void copy().catch(reportFailure("Couldn't copy"))}
    >
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
