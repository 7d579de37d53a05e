import type { HubRepository } from '@bakehouse/contract/hub/public';
import { Link } from '@tanstack/react-router';
import { Download, Heart, SearchX } from 'lucide-react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { type SearchOf, useUrlSearch } from '../../lib/url-search.ts';
import { Badge } from '../../ui/badge.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { FilterBar } from '../../ui/resource/filter-bar.tsx';
import { ResourceList } from '../../ui/resource/resource-list.tsx';
import { useHubSearch } from './repository/hub-calls.ts';
import type { modelHubSearch } from './routes.ts';

type Search = SearchOf<typeof modelHubSearch>;

const filters = [
  {
    name: 'type',
    label: 'What to search for',
    segmented: true,
    options: [
      { value: 'model', label: 'Models' },
      { value: 'dataset', label: 'Datasets' },
    ],
  },
  { name: 'query', label: 'Search the hub' },
];

/** Search of models or datasets on the public hub. */
export function HubSearch() {
  const [{ type = 'model', query = '' }] = useUrlSearch<Search>();
  return (
    <>
      <FilterBar filters={filters} />
      <ResourceList
        query={useHubSearch(type, query)}
        rows={(page) => page.results}
        rowKey={(repository) => repository.repo_id}
        failed="The public hub could not be searched"
        rowHeight={64}
        skeletonRows={8}
        empty={{
          icon: <SearchX aria-hidden />,
          title: type === 'model' ? 'No models found' : 'No datasets found',
          description: query ? `Nothing on the hub matches '${query}'.` : undefined,
        }}
        item={(repository) => <Result repository={repository} />}
      />
    </>
  );
}

function Result({ repository }: { repository: HubRepository }) {
  const [filter] = useUrlSearch<Search>();
  const { repo_id, gated, task, downloads, likes, updated_at } = repository;
  return (
    <div className="relative flex flex-wrap items-center justify-between gap-x-6 gap-y-1 px-5 py-3 hover:bg-subtle">
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            to="/model-hub"
            search={{ ...filter, repo: repo_id }}
            resetScroll={false}
            className="rounded font-medium [overflow-wrap:anywhere] after:absolute after:inset-0"
          >
            {repo_id}
          </Link>
          {gated && <Badge tone="warn">Gated</Badge>}
        </div>
        <p className="text-[0.8125rem] text-muted">
          {[task, updated_at && 'changed'].filter(Boolean).join(', ')}{' '}
          {updated_at && <RelativeTime at={updated_at} inSentence />}
        </p>
      </div>
      <dl className="flex gap-4 text-[0.8125rem] text-muted tabular-nums [&_svg]:size-3.5">
        <div className="flex items-center gap-1.5">
          <dt>
            <Download aria-hidden />
            <span className="sr-only">Downloads</span>
          </dt>
          <dd>{formatNumber(downloads, { notation: 'compact' })}</dd>
        </div>
        <div className="flex items-center gap-1.5">
          <dt>
            <Heart aria-hidden />
            <span className="sr-only">Likes</span>
          </dt>
          <dd>{formatNumber(likes, { notation: 'compact' })}</dd>
        </div>
      </dl>
    </div>
  );
}
