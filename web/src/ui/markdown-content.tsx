import { Fragment, useState } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { type Growing, grow, type Parsed } from './growing-markdown.ts';

/**
 * The page has its own h1, so headings begin one level lower; links leave in a tab of their own. Each block is
 * written in the direction of its own language.
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
  // Nothing is fetched because a text says so: its writer would learn who reads it.
  img: ({ src, alt }) => (
    <a href={src} target="_blank" rel="noreferrer noopener">
      {alt || 'Image'}
    </a>
  ),
  // Tables in markdown must have a heading row, and model cards leave it empty: an empty cell heads nothing.
  th: ({ children, style }) => (children ? <th style={style}>{children}</th> : <td />),
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways, so the keyboard must reach it
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways, too
  table: ({ children }) => <table tabIndex={0}>{children}</table>,
};

type Props = {
  text: string;
  /** What is drawn otherwise, for a text that is our own. */
  own?: Components;
  rehypePlugins?: Options['rehypePlugins'];
};

/** Turns markdown into elements. Raw HTML is left out, pictures become links and only safe addresses are links. */
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

/** The same of a text that may grow, an answer that comes: what is closed of it is not parsed again. */
export function GrowingMarkdown({ text }: { text: string }) {
  const shown = withoutFrontMatter(text);
  const [kept, setKept] = useState<Growing>(() => grow(null, shown, parseMarkdown));
  const growing = kept.text === shown ? kept : grow(kept, shown, parseMarkdown);
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

/** Turns markdown into elements, and says of which blocks it consists. */
export function parseMarkdown(text: string): Parsed {
  let found: Omit<Parsed, 'drawn'> = { lastBlockAt: 0, defines: false };
  const look = () => (tree: Node) => {
    found = { lastBlockAt: lastBlockAt(tree), defines: hasDefinition(tree) };
  };
  // It is a function without hooks.
  const drawn = ReactMarkdown({ children: text, remarkPlugins: [remarkGfm, look], components });
  return { drawn, ...found };
}

/** The line that is not whole yet may turn out to belong to the block above it. */
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
