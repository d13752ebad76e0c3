// Text of models as Markdown that can't act: HTML in it is text, links ask before they open, and images of
// other hosts are names of them.
import { visibleText } from "@millrace/client/parts";
import { memo } from "react";
import type { ReactNode } from "react";
import { Streamdown, defaultRehypePlugins } from "streamdown";
import type { Components } from "streamdown";
import { useCalm } from "./calm.ts";
import { CodeBlock } from "./code-block.tsx";
import { askToOpen } from "./dialogs.tsx";
import { holdTable } from "./hold-table.ts";
import { hostOf, safeUrl } from "./links.ts";
import { exceedsMarkdownLimit } from "./markdown-limit.ts";

interface LinkProps {
  readonly href?: string | undefined;
  readonly children?: ReactNode;
}

/** A link with the host that it leads to, unless its text is the address itself. */
function Link({ href, children }: LinkProps): ReactNode {
  const url = safeUrl(href);
  if (url === undefined) return <bdi>{children}</bdi>;
  const host = hostOf(url);
  const isNamed = typeof children === "string" && safeUrl(children) === url;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      onClick={(event) => {
        event.preventDefault();
        askToOpen(url);
      }}
    >
      <bdi>{children}</bdi>
      {!isNamed && <bdi className="host"> {host}</bdi>}
    </a>
  );
}

interface PictureProps {
  readonly src?: unknown;
  readonly alt?: string | undefined;
}

/** An image of somewhere else is not loaded: its address could carry what the model has read. */
function Picture({ src, alt }: PictureProps): ReactNode {
  return (
    <Link href={typeof src === "string" ? src : undefined}>
      🖼 {alt === undefined || alt === "" ? "image" : alt}
    </Link>
  );
}

function Table({ children }: { readonly children?: ReactNode }): ReactNode {
  return (
    <div className="table" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

// The elements themselves: their looks are in our own style sheet.
const plain =
  "h1 h2 h3 h4 h5 h6 p ul ol li blockquote hr strong em del code thead tbody tr th td sup sub section";
const components = {
  ...Object.fromEntries(plain.split(" ").map((tag) => [tag, element(tag)])),
  a: Link,
  img: Picture,
  pre: CodeBlock,
  table: Table,
} as Components; // its index signature is for tags of one's own, and would have them all take anything

/** An element with nothing of Markdown's own but its text, and how a table's cell is aligned. */
function element(Tag: string): Components[string] {
  const Element = Tag as "p"; // any element without a meaning of its own
  return ({ children, style }) => {
    const align = (style as { readonly textAlign?: "left" } | undefined)?.textAlign;
    if (Tag === "hr") return <hr />;
    return (
      <Element {...(align && { style: { textAlign: align } })}>{children as ReactNode}</Element>
    );
  };
}

// Without `raw`, which would read HTML: what looks like HTML stays text.
const { sanitize } = defaultRehypePlugins;
const rehypePlugins = sanitize === undefined ? [] : [sanitize];

interface MarkdownProps {
  readonly text: string;
  readonly live: boolean;
}

/** Markdown that is being written, or is whole. Finished blocks are not laid out again. */
export const Markdown = memo(({ text, live }: MarkdownProps): ReactNode => {
  const shown = useCalm(text, live);
  if (exceedsMarkdownLimit(shown)) return <p dir="auto">{visibleText(shown)}</p>;
  return (
    <div className={live ? "md live" : "md"}>
      <Streamdown
        mode="streaming"
        parseIncompleteMarkdown={live}
        rehypePlugins={rehypePlugins}
        components={components}
        controls={false}
        dir="auto"
        isAnimating={false}
        animated={false}
      >
        {visibleText(live ? holdTable(shown) : shown)}
      </Streamdown>
    </div>
  );
});
