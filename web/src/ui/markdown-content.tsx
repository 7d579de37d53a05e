import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** The page has its own h1, so headings begin one level lower; links leave in a tab of their own. */
const components: Components = {
  h1: ({ children }) => <h2>{children}</h2>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  a: ({ href, title, children }) => (
    <a href={href} title={title} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // Tables in markdown must have a heading row, and model cards leave it empty: an empty cell heads nothing.
  th: ({ children, style }) => (children ? <th style={style}>{children}</th> : <td />),
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways, so the keyboard must reach it
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
};

/** Turns markdown into elements. Raw HTML is left out and only safe addresses become links. */
export default function MarkdownContent({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
      {withoutFrontMatter(text)}
    </ReactMarkdown>
  );
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '');
}
