import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';

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

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '');
}
