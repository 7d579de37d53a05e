import { Link } from '@tanstack/react-router';
import { ArrowUpRight } from 'lucide-react';
import { useState } from 'react';
import { Disclosure } from '../../ui/disclosure.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { listSections } from './documents.ts';
import { FoundSections } from './found-sections.tsx';
import { itemClass } from './item-class.ts';
import { FIRST_DOCUMENT } from './sections.ts';

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
                  aria-current={path === shown ? 'page' : undefined}
                  className={itemClass}
                >
                  {title}
                </Link>
              </li>
            ))}
            {documents[0]?.path === FIRST_DOCUMENT && (
              <li>
                <a href="/openapi.json" target="_blank" rel="noreferrer" className={itemClass}>
                  API reference (OpenAPI)
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
