import type { DeploymentFilter } from '@bakehouse/contract/deployments';
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

type FiltersProps = { shown: DeploymentsSearch; onChange: (search: DeploymentsSearch) => void };

/** Narrows a list of deployments by words and by status. */
export function DeploymentFilters({ shown, onChange }: FiltersProps) {
  const { search = '', status, ended } = shown;
  const words = search === '' ? {} : { search };
  const show = (filter: Filter) =>
    onChange({
      ...words,
      ...(filter === 'all' ? { ended: true } : filter !== 'live' && { status: filter }),
    });
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <div className="min-w-48 flex-1 sm:max-w-xs">
        <SearchInput
          label="Search deployments"
          value={search}
          onChange={(value) =>
            onChange({ ...(value && { search: value }), ...(status && { status }), ...(ended && { ended }) })
          }
        />
      </div>
      <div className="w-40">
        <Select<Filter>
          aria-label="Status"
          value={status ?? (ended ? 'all' : 'live')}
          onChange={show}
          options={filters}
        />
      </div>
    </div>
  );
}

/** Where nothing fits what the list is narrowed to. */
export function NoDeploymentsFound() {
  return (
    <EmptyState title="No deployments found" description="No deployments match your search and filter." />
  );
}
