import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight } from 'lucide-react';
import { useState } from 'react';
import { Disclosure } from '../../ui/disclosure.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { DECISIONS, listSections } from './documents.ts';
import { FIRST_DOCUMENT } from './sections.ts';

/** An entry of the documentation's list. */
const itemClass =
  'block rounded-md px-2.5 py-1 text-[0.8125rem] text-muted hover:bg-hover hover:text-ink [&[aria-current]]:bg-hover [&[aria-current]]:font-medium [&[aria-current]]:text-ink';

/** The list of all pages, collapsed on small screens; search results replace it. */
export function DocumentationContents({ shown }: { shown: string }) {
  const [words, setWords] = useState('');
  return (
    <nav aria-label="Documentation" className="flex flex-col gap-5">
      <SearchInput value={words} onChange={setWords} label="Search the documentation" placeholder="Search" />
      {words.trim() === '' ? (
        <>
          <div className="max-lg:hidden">
            <Contents shown={shown} />
          </div>
          <div className="lg:hidden">
            <Disclosure title="All pages" key={shown}>
              <Contents shown={shown} />
            </Disclosure>
          </div>
        </>
      ) : (
        <FoundSections words={words.trim()} onOpen={() => setWords('')} />
      )}
    </nav>
  );
}

/** A decision is part of the list of decisions. */
function currentIn(path: string, shown: string): 'page' | 'true' | undefined {
  if (path === shown) return 'page';
  return path === DECISIONS && shown.startsWith(`${DECISIONS}/`) ? 'true' : undefined;
}

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

type Props = { words: string; onOpen: () => void };

/** Search results in the documentation. */
function FoundSections({ words, onOpen }: Props) {
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
          <p role="status" className={found.length === 0 ? 'px-2.5 text-[0.8125rem] text-muted' : 'sr-only'}>
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
