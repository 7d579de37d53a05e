import { HUB_UNREACHABLE, type HubRepository } from '@bakehouse/contract/hub/public';
import { Link } from '@tanstack/react-router';
import { CloudOff, Download, Heart, SearchX } from 'lucide-react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { useSheets } from '../../lib/sheet.ts';
import { type SearchOf, useUrlSearch } from '../../lib/url-search.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { FilterBar } from '../../ui/resource/filter-bar.tsx';
import { ResourceList } from '../../ui/resource/resource-list.tsx';
import { useHubSearch } from './repository/hub-calls.ts';
import type { modelHubSearch } from './routes.ts';

type Search = SearchOf<typeof modelHubSearch>;

const filters = [
  {
    name: 'type',
    label: 'Type of repository',
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
  const found = useHubSearch(type, query);
  if (!found.data && found.error?.message.startsWith(HUB_UNREACHABLE)) return <Unreachable query={found} />;
  return (
    <>
      <FilterBar filters={filters} />
      <ResourceList
        query={found}
        rows={(page) => page.results}
        rowKey={(repository) => repository.repo_id}
        failed="Hugging Face could not be searched"
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

/** The hub is optional, so this is not an error. */
function Unreachable({ query }: { query: { isFetching: boolean; refetch: () => unknown } }) {
  const sheets = useSheets();
  return (
    <div role="alert">
      <EmptyState
        icon={<CloudOff aria-hidden />}
        title={HUB_UNREACHABLE}
        description="Bakehouse works without it: upload a model, or use a starter model. The operator can set a mirror in BAKEHOUSE_SERVICE_URLS."
        action={
          <>
            <Button onClick={() => sheets.open('create-model')}>Upload a model</Button>
            <Button loading={query.isFetching} onClick={() => void query.refetch()}>
              Try again
            </Button>
          </>
        }
      />
    </div>
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
        <p className="text-compact text-muted">
          {[task, updated_at && 'changed'].filter(Boolean).join(', ')}{' '}
          {updated_at && <RelativeTime at={updated_at} inSentence />}
        </p>
      </div>
      <dl className="flex gap-4 text-compact text-muted tabular-nums [&_svg]:size-3.5">
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
