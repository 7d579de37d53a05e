import type { ReactNode } from 'react';
import { useUrlSearch } from '../../lib/url-search.ts';
import { SearchInput } from '../search-input.tsx';
import { Segmented } from '../segmented.tsx';
import { Select } from '../select.tsx';

export type Filter = {
  /** The search parameter that stores the value. */
  name: string;
  label: string;
  placeholder?: string;
  /** The first is the default and is not stored. A filter without options is a search field. */
  options?: readonly { value: string; label: string }[];
  /** Shows the options next to each other. */
  segmented?: boolean;
  /** For long options. */
  wide?: boolean;
};

/** Filters and sort order of a list, which the URL stores. */
export function FilterBar({ filters, children }: { filters: readonly Filter[]; children?: ReactNode }) {
  return (
    <div className="@container mb-4">
      <div className="flex flex-wrap items-center gap-2">
        {filters.map((filter) => (
          <FilterField key={filter.name} {...filter} />
        ))}
        {children}
      </div>
    </div>
  );
}

/** One filter. */
export function FilterField({ name, label, placeholder, options, segmented, wide }: Filter) {
  const [search, change] = useUrlSearch<Record<string, string | undefined>>();
  if (!options) {
    return (
      <div className="flex min-w-48 flex-1 @max-lg:basis-full sm:max-w-xs">
        <SearchInput
          label={label}
          placeholder={placeholder}
          value={search[name] ?? ''}
          onChange={(text) => change({ [name]: text })}
        />
      </div>
    );
  }
  const initial = options[0]?.value ?? '';
  const choice = {
    value: options.find(({ value }) => value === search[name])?.value ?? initial,
    onChange: (value: string) => change({ [name]: value === initial ? undefined : value }),
    options,
  };
  if (segmented) return <Segmented label={label} {...choice} />;
  return (
    <div className={wide ? 'w-72 max-w-full' : 'w-48 @max-lg:flex-1'}>
      <Select aria-label={label} {...choice} />
    </div>
  );
}
