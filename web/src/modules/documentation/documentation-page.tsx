import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowUpRight } from 'lucide-react';
import { Disclosure } from '../../ui/disclosure.tsx';
import { Missing } from '../../ui/missing.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { DocumentText } from './document-text.tsx';
import { DECISIONS, type Document, FIRST_DOCUMENT, findDocument, listSections } from './documents.ts';

const textQuery = ({ path, load }: Document) =>
  queryOptions({ queryKey: ['document', path], queryFn: load, staleTime: Number.POSITIVE_INFINITY });

/** One document, and the list of all beside it. */
export function DocumentationPage() {
  const { _splat: path } = useParams({ strict: false });
  const document = findDocument(path || FIRST_DOCUMENT);
  if (!document) {
    return (
      <Missing
        title="There is no such page in the documentation"
        text="The address may be mistyped, or the page has another name now."
        to="/docs"
        label="Go to the documentation"
      />
    );
  }
  return (
    <div className="grid gap-x-12 gap-y-6 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <nav aria-label="Documentation" className="max-lg:hidden">
        <div className="sticky top-20 max-h-[calc(100dvh-7rem)] overflow-y-auto pb-6">
          <Contents shown={document.path} />
        </div>
      </nav>
      <nav aria-label="Documentation" className="lg:hidden">
        <Disclosure title="All pages" key={document.path}>
          <Contents shown={document.path} />
        </Disclosure>
      </nav>
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

/** A decision is found in the list of all of them. */
function currentIn(path: string, shown: string): 'page' | 'true' | undefined {
  if (path === shown) return 'page';
  return path === DECISIONS && shown.startsWith(`${DECISIONS}/`) ? 'true' : undefined;
}

const itemClass =
  'block rounded-md px-2.5 py-1 text-[0.8125rem] text-muted hover:bg-hover hover:text-ink [&[aria-current]]:bg-hover [&[aria-current]]:font-medium [&[aria-current]]:text-ink';

function Contents({ shown }: { shown: string }) {
  return (
    <div className="flex flex-col gap-5">
      {listSections().map(({ label, documents }) => (
        <section key={label}>
          <h2 className="mb-1 px-2.5 font-medium text-faint text-xs">{label}</h2>
          <ul className="flex flex-col gap-px">
            {documents.map(({ path, title }) => (
              <li key={path}>
                <Link
                  to="/docs/$"
                  params={{ _splat: path }}
                  aria-current={currentIn(path, shown)}
                  className={itemClass}
                >
                  {title}
                </Link>
              </li>
            ))}
            {documents[0]?.path === FIRST_DOCUMENT && (
              <li>
                <a href="/openapi.json" target="_blank" rel="noreferrer" className={itemClass}>
                  API Reference (OpenAPI)
                  <ArrowUpRight aria-hidden className="ml-1 inline size-3.5 text-faint" />
                  <span className="sr-only">(opens in a new tab)</span>
                </a>
              </li>
            )}
          </ul>
        </section>
      ))}
    </div>
  );
}
