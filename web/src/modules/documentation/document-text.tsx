import { Link, useLocation } from '@tanstack/react-router';
import { type ComponentProps, isValidElement, type ReactNode, useEffect, useMemo } from 'react';
import rehypeSlug from 'rehype-slug';
import { CodeBlock } from '../../ui/code-block.tsx';
import MarkdownContent from '../../ui/markdown-content.tsx';
import { ProductPicture } from '../../ui/product-picture.tsx';
import { resolveLink, resolvePicture } from './documents.ts';

/** A document without its title; its links open other documents, and its headings are link targets. */
export function DocumentText({ path, text }: { path: string; text: string }) {
  const hash = useLocation({ select: (location) => location.hash });
  useEffect(() => {
    // The router scrolls before the text is loaded, when the heading does not exist yet.
    if (hash) document.getElementById(hash)?.scrollIntoView();
  }, [hash]);
  const own = useMemo(() => componentsOf(path), [path]);
  return (
    <div className="prose-bakehouse">
      <MarkdownContent text={withoutTitle(text)} own={own} rehypePlugins={[rehypeSlug]} />
    </div>
  );
}

type Components = NonNullable<ComponentProps<typeof MarkdownContent>['own']>;

function componentsOf(path: string): Components {
  return {
    // Keep the heading levels: the document's title is the page's h1.
    h2: ({ id, children }) => (
      <h2 id={id} className="scroll-mt-20">
        {children}
      </h2>
    ),
    h3: ({ id, children }) => (
      <h3 id={id} className="scroll-mt-20">
        {children}
      </h3>
    ),
    pre: ({ children }) => <CodeBlock code={codeOf(children)} className="my-3 [&_pre]:m-0" />,
    a: ({ href = '', children }) => <DocumentLink {...{ path, href, children }} />,
    img: ({ src = '', alt }) => {
      const name = resolvePicture(path, src);
      return name ? <ProductPicture name={name} alt={alt ?? ''} first /> : null;
    },
  };
}

/** Returns the text of a fenced block, which is one `code` element. */
function codeOf(children: ReactNode): string {
  const code = isValidElement<{ children?: ReactNode }>(children) ? children.props.children : null;
  return typeof code === 'string' ? code.replace(/\n$/, '') : '';
}

function DocumentLink({ path, href, children }: { path: string; href: string } & ComponentProps<'span'>) {
  if (/^(https?:|\/)/.test(href)) {
    return (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    );
  }
  const target = resolveLink(path, href);
  // Links to a source file, which is not part of the documentation.
  if (target === null) return <span>{children}</span>;
  return (
    <Link to="/docs/$" params={{ _splat: target.path }} hash={target.hash || undefined}>
      {children}
    </Link>
  );
}

function withoutTitle(text: string): string {
  return text.replace(/^# .+\r?\n/m, '');
}
