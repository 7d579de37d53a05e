import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { itemClass } from './item-class.ts';

type Props = { words: string; onOpen: () => void };

/** Search results in the documentation. */
export function FoundSections({ words, onOpen }: Props) {
  const query = useQuery({
    queryKey: ['documentation', 'found', words],
    // Loads all texts and the search with the first query.
    queryFn: async () => (await import('./find-in-documents.ts')).findInDocuments(words),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <QueryView
      query={query}
      failed="The documentation could not be searched"
      compact
      pending={
        <LoadingRegion label="Searching" className="space-y-3 px-2.5">
          <Skeleton className="h-8 w-full" />
          <Skeleton className="h-8 w-full" />
        </LoadingRegion>
      }
    >
      {(found) => (
        <>
          <p role="status" className={found.length === 0 ? 'px-2.5 text-compact text-muted' : 'sr-only'}>
            {found.length === 0 ? `Nothing found for “${words}”` : `${found.length} found`}
          </p>
          <ul className="flex flex-col gap-px">
            {found.map(({ path, hash, title, heading, excerpt }) => (
              <li key={`${path}#${hash}`}>
                <Link
                  to="/docs/$"
                  params={{ _splat: path }}
                  hash={hash || undefined}
                  onClick={onOpen}
                  className={itemClass}
                >
                  <span className="font-medium text-ink">{heading || title}</span>
                  {heading && <span className="block text-xs">{title}</span>}
                  <span className="line-clamp-2 text-faint text-xs">{excerpt}</span>
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </QueryView>
  );
}
