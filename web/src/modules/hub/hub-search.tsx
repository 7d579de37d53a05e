import type { HubRepository } from '@bakehouse/contract/hub/public';
import { Link } from '@tanstack/react-router';
import { Download, Heart, SearchX } from 'lucide-react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PagedList } from '../../ui/paged-list.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import type { ModelHubSearch } from './model-hub-search.ts';
import { useHubSearch } from './repository/hub-calls.ts';

type Props = { filter: ModelHubSearch; onFilter: (filter: ModelHubSearch) => void };

/** Search of models or datasets on the public hub; the filter lives in the URL. */
export function HubSearch({ filter, onFilter }: Props) {
  const { type = 'model', query = '' } = filter;
  const found = useHubSearch(type, query);
  const change = (next: ModelHubSearch) =>
    onFilter(Object.fromEntries(Object.entries({ ...filter, ...next }).filter(([, value]) => value)));
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <Segmented
          label="What to search for"
          value={type}
          onChange={(chosen) => change({ type: chosen })}
          options={[
            { value: 'model', label: 'Models' },
            { value: 'dataset', label: 'Datasets' },
          ]}
        />
        <SearchInput value={query} onChange={(words) => change({ query: words })} label="Search the hub" />
      </div>
      <Card flush>
        <PagedList
          query={found}
          rows={(page) => page.results}
          failed="The public hub could not be searched"
          rowHeight={64}
          skeletonRows={8}
          empty={
            <EmptyState
              icon={<SearchX aria-hidden />}
              title={type === 'model' ? 'No models found' : 'No datasets found'}
              description={query ? `Nothing on the hub matches '${query}'.` : undefined}
            />
          }
        >
          {(rows) => (
            <ul className="divide-y divide-line">
              {rows.map((repository) => (
                <Result key={repository.repo_id} repository={repository} filter={filter} />
              ))}
            </ul>
          )}
        </PagedList>
      </Card>
    </>
  );
}

function Result({ repository, filter }: { repository: HubRepository; filter: ModelHubSearch }) {
  const { repo_id, gated, task, downloads, likes, updated_at } = repository;
  return (
    <li className="relative flex flex-wrap items-center justify-between gap-x-6 gap-y-1 px-5 py-3 hover:bg-subtle">
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
    </li>
  );
}
