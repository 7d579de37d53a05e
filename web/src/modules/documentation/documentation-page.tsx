import { queryOptions, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Missing } from '../../ui/missing.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { DocumentText } from './document-text.tsx';
import { DocumentationContents } from './documentation-contents.tsx';
import { type Document, findDocument } from './documents.ts';
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
        title="Documentation page not found"
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
