import type { ComponentProps, ReactNode } from 'react';
import { PageHeader } from '../page-header.tsx';
import { type Filter, FilterBar } from './filter-bar.tsx';

type Props = ComponentProps<typeof PageHeader> & { filters?: readonly Filter[]; children: ReactNode };

/** A page about one kind of resource: its title, its filters, and its list. */
export function ResourcePage({ filters, children, ...header }: Props) {
  return (
    <>
      <PageHeader {...header} />
      {filters && <FilterBar filters={filters} />}
      {children}
    </>
  );
}
