import type { DeploymentFilter } from '@bakehouse/contract/deployments/text';
import { cx } from '../../../lib/cx.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { SearchInput } from '../../../ui/search-input.tsx';
import { Select } from '../../../ui/select.tsx';
import type { DeploymentsSearch } from './deployments-search.ts';

const filters = [
  { value: 'live', label: 'Active' },
  { value: 'running', label: 'Running' },
  { value: 'sleeping', label: 'Sleeping' },
  { value: 'failed', label: 'Failed' },
  { value: 'terminated', label: 'Terminated' },
  { value: 'all', label: 'All' },
] as const satisfies { value: DeploymentFilter | 'live' | 'all'; label: string }[];

type Filter = (typeof filters)[number]['value'];

type FiltersProps = {
  shown: DeploymentsSearch;
  onChange: (search: DeploymentsSearch) => void;
  /** Puts the search on a line of its own. */
  narrow?: boolean;
};

const sorts = [
  { value: 'created', label: 'Newest' },
  { value: 'title', label: 'Name' },
] as const;

type Sort = (typeof sorts)[number]['value'];

/** Search, status filter and sort order of a deployment list. */
export function DeploymentFilters({ shown, onChange, narrow = false }: FiltersProps) {
  const { search = '', status, ended, sort = 'created' } = shown;
  const searchFor = (words: string) => {
    const { search: _, ...rest } = shown;
    onChange({ ...rest, ...(words && { search: words }) });
  };
  const show = (filter: Filter) => {
    const { status: _status, ended: _ended, ...rest } = shown;
    onChange({ ...rest, ...(filter === 'all' ? { ended: true } : filter !== 'live' && { status: filter }) });
  };
  const sortBy = (order: Sort) => {
    const { sort: _, ...rest } = shown;
    onChange({ ...rest, ...(order === 'title' && { sort: order }) });
  };
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <div className={cx('min-w-48 flex-1 sm:max-w-xs', narrow && 'max-sm:basis-full lg:basis-full')}>
        <SearchInput label="Search deployments" value={search} onChange={searchFor} />
      </div>
      <div className={cx('w-40', narrow && 'max-sm:flex-1 lg:flex-1')}>
        <Select<Filter>
          aria-label="Status"
          value={status ?? (ended ? 'all' : 'live')}
          onChange={show}
          options={filters}
        />
      </div>
      <div className={cx('w-40', narrow && 'max-sm:flex-1 lg:flex-1')}>
        <Select<Sort> aria-label="Sort by" value={sort} onChange={sortBy} options={sorts} />
      </div>
    </div>
  );
}

/** Shown if no deployment matches the filters. */
export function NoDeploymentsFound() {
  return (
    <EmptyState title="No deployments found" description="No deployments match your search and filter." />
  );
}
