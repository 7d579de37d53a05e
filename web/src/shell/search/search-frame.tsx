import { Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { controlClass } from '../../ui/control-class.ts';

export const SEARCH_LABEL = 'Search models and datasets';
/** Marks the input that the `/` key focuses. */
export const SEARCH_BOX = 'data-search-box';
export const searchInputClass = controlClass('peer h-9 pr-8 pl-9 [&::-webkit-search-cancel-button]:hidden');

/** The frame around the search input. */
export function SearchFrame({ children }: { children: ReactNode }) {
  return (
    <div className="relative">
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 z-1 size-4 text-faint" />
      {children}
      <kbd
        aria-hidden
        className="pointer-events-none absolute top-2 right-2 rounded border border-line-strong px-1.5 font-sans text-2xs text-muted peer-focus:hidden max-md:hidden"
      >
        /
      </kbd>
    </div>
  );
}
