import { Fragment, useState } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { extendMarkdown, type Parsed, type StreamedMarkdown } from './growing-markdown.ts';

/**
 * Headings shift down one level because the page has its own h1; links open in a new tab. Each block has its
 * own text direction.
 */
const components: Components = {
  h1: ({ children }) => <h2 dir="auto">{children}</h2>,
  h2: ({ children }) => <h3 dir="auto">{children}</h3>,
  h3: ({ children }) => <h4 dir="auto">{children}</h4>,
  p: ({ children }) => <p dir="auto">{children}</p>,
  li: ({ children }) => <li dir="auto">{children}</li>,
  td: ({ children, style }) => (
    <td dir="auto" style={style}>
      {children}
    </td>
  ),
  a: ({ href, title, children }) => (
    <a href={href} title={title} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // Don't load remote images: they would let the author track readers.
  img: ({ src, alt }) => (
    <a href={src} target="_blank" rel="noreferrer noopener">
      {alt || 'Picture'}
    </a>
  ),
  // Markdown tables require a header row, which model cards often leave empty. An empty header cell isn't a
  // header.
  th: ({ children, style }) => (children ? <th style={style}>{children}</th> : <td />),
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways, so the keyboard must reach it
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways, too
  table: ({ children }) => <table tabIndex={0}>{children}</table>,
};

type Props = {
  text: string;
  /** Component overrides for trusted text. */
  own?: Components;
  rehypePlugins?: Options['rehypePlugins'];
};

/** Renders markdown. Drops raw HTML, turns pictures into links and allows only safe URLs. */
export default function MarkdownContent({ text, own, rehypePlugins }: Props) {
  return (
    <ReactMarkdown
      remarkPlugins={[remarkGfm]}
      rehypePlugins={rehypePlugins}
      components={{ ...components, ...own }}
    >
      {withoutFrontMatter(text)}
    </ReactMarkdown>
  );
}

/** Renders streaming markdown, such as a chat answer, without parsing closed blocks again. */
export function GrowingMarkdown({ text }: { text: string }) {
  const shown = withoutFrontMatter(text);
  const [kept, setKept] = useState<StreamedMarkdown>(() => extendMarkdown(null, shown, parseMarkdown));
  const growing = kept.text === shown ? kept : extendMarkdown(kept, shown, parseMarkdown);
  if (growing !== kept) setKept(growing);
  return (
    <>
      {growing.closed.map((piece, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- pieces are only added
        <Fragment key={at}>
          {piece}
          {'\n'}
        </Fragment>
      ))}
      {growing.rest.drawn}
    </>
  );
}

type Node = { type: string; position?: { start: Place; end: Place }; children?: Node[] };
type Place = { line: number; column: number; offset?: number };

/** Renders markdown and returns its block boundaries. */
export function parseMarkdown(text: string): Parsed {
  let found: Omit<Parsed, 'drawn'> = { lastBlockAt: 0, defines: false };
  const look = () => (tree: Node) => {
    found = { lastBlockAt: lastBlockAt(tree), defines: hasDefinition(tree) };
  };
  // ReactMarkdown is a plain function without hooks.
  const drawn = ReactMarkdown({ children: text, remarkPlugins: [remarkGfm, look], components });
  return { drawn, ...found };
}

/** An incomplete last line may still belong to the block above it. */
function lastBlockAt({ children = [], position }: Node): number {
  const lastLine = position?.end.line ?? 1;
  const begun = children.flatMap(({ position: at }) => (at && at.start.line < lastLine ? [at.start] : []));
  const last = begun.at(-1);
  return last?.offset === undefined ? 0 : last.offset - (last.column - 1);
}

function hasDefinition({ type, children = [] }: Node): boolean {
  return type === 'definition' || type === 'footnoteDefinition' || children.some(hasDefinition);
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '');
}
