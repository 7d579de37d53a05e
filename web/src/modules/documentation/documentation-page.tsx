import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams } from '@tanstack/react-router';
import { type ComponentProps, isValidElement, type ReactNode, useEffect, useMemo } from 'react';
import rehypeSlug from 'rehype-slug';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Missing } from '../../ui/error-state.tsx';
import MarkdownContent from '../../ui/markdown-content.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { ProductPicture } from '../../ui/product-picture.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { DocumentationContents } from './documentation-contents.tsx';
import { type Document, findDocument, resolveLink, resolvePicture } from './documents.ts';
import { FIRST_DOCUMENT } from './sections.ts';

const textQuery = ({ path, load }: Document) =>
  queryOptions({ queryKey: ['document', path], queryFn: load, staleTime: Number.POSITIVE_INFINITY });

/** One document next to the list of all. */
export function DocumentationPage() {
  const { _splat: path } = useParams({ strict: false });
  const document = findDocument(path || FIRST_DOCUMENT);
  if (!document) {
    return (
      <Missing
        title="There is no such page in the documentation"
        text="The address may be mistyped, or the page was renamed."
        to="/docs"
        label="Go to the documentation"
      />
    );
  }
  return (
    <div className="grid gap-x-12 gap-y-6 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <div className="lg:sticky lg:top-20 lg:max-h-[calc(100dvh-7rem)] lg:self-start lg:overflow-y-auto lg:pb-6">
        <DocumentationContents shown={document.path} />
      </div>
      <article className="min-w-0">
        <PageHeader title={document.title} />
        <Text document={document} />
      </article>
    </div>
  );
}

function Text({ document }: { document: Document }) {
  const query = useQuery(textQuery(document));
  return (
    <QueryView
      query={query}
      failed="This page could not be loaded"
      pending={
        <LoadingRegion label="Loading the page" className="max-w-2xl space-y-3">
          <Skeleton className="h-4 w-full" />
          <Skeleton className="h-4 w-full" />
          <Skeleton className="h-4 w-2/3" />
        </LoadingRegion>
      }
    >
      {(text) => <DocumentText key={document.path} path={document.path} text={text} />}
    </QueryView>
  );
}

/** A document without its title; its links open other documents, and its headings are link targets. */
function DocumentText({ path, text }: { path: string; text: string }) {
  const hash = useLocation({ select: (location) => location.hash });
  useEffect(() => {
    // The router looked for the heading before the text was loaded.
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
    // The document's title is the page's h1, so heading levels do not change.
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
  // A source file, which is not part of the documentation.
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
