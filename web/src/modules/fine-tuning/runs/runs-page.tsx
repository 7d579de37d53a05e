import { useNavigate } from '@tanstack/react-router';
import { Plus, Sparkles } from 'lucide-react';
import type { ReactNode } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { useSheets } from '../../../lib/sheet.ts';
import { type SearchOf, useUrlSearch } from '../../../lib/url-search.ts';
import { Button } from '../../../ui/button.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
import { FilterBar } from '../../../ui/resource/filter-bar.tsx';
import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import type { runsSearch } from '../routes.ts';
import { CompareRuns } from './curves/compare-runs.tsx';
import { runStatsQuery, useRunStats } from './run-calls.ts';
import { useRuns } from './run-queries.ts';
import { runsColumns } from './runs-columns.tsx';

type Search = SearchOf<typeof runsSearch>;

type Area = {
  kind: 'text' | 'pictures';
  title: string;
  description: string;
  sheet: 'create-model' | 'train-lora';
  create: string;
  empty: string;
};

const text: Area = {
  kind: 'text',
  title: 'LLM Training',
  description: 'Your fine-tunes, running and finished.',
  sheet: 'create-model',
  create: 'New fine-tune',
  empty: 'A run fine-tunes a model on one of your datasets.',
};

const pictures: Area = {
  kind: 'pictures',
  title: 'Diffusion Training',
  description: 'LoRAs for picture models, trained on your pictures.',
  sheet: 'train-lora',
  create: 'New LoRA',
  empty: 'Train a LoRA on 10 to 50 pictures of one style or subject.',
};

/** As many curves as can be distinguished. */
const COMPARED_MAX = 4;

const filters = [
  { name: 'search', label: 'Search runs' },
  {
    name: 'state',
    label: 'Status',
    options: [
      { value: 'all', label: 'All runs' },
      { value: 'active', label: 'In progress' },
      { value: 'completed', label: 'Completed' },
      { value: 'cancelled', label: 'Stopped or cancelled' },
      { value: 'failed', label: 'Failed' },
    ],
  },
  {
    name: 'sort',
    label: 'Sort by',
    options: [
      { value: 'created', label: 'Newest' },
      { value: 'title', label: 'Name' },
    ],
  },
];

/** Reads what determines the layout of a list: without runs, it has no figures and filters. */
export async function readRunStats(kind: Area['kind']): Promise<void> {
  await Promise.allSettled([queryClient.ensureQueryData(runStatsQuery(kind))]);
}

/** Fine-tunes of language models. */
export function RunsPage() {
  return <RunsOf area={text} />;
}

/** Training on pictures. */
export function DiffusionTrainingPage() {
  return <RunsOf area={pictures} />;
}

/** Runs, filtered by the URL; selected runs are compared below. */
function RunsOf({ area }: { area: Area }) {
  const sheets = useSheets();
  const [{ compare }, change] = useUrlSearch<Search>();
  const compared = compare?.split(',').slice(0, COMPARED_MAX) ?? [];
  const isFull = compared.length === COMPARED_MAX;
  const compareOnly = (ids: string[]) => change({ compare: ids.join(',') }, { resetScroll: false });
  const toggle = (runId: string, checked: boolean) =>
    compareOnly(checked ? [...compared, runId] : compared.filter((id) => id !== runId));
  const stats = useRunStats(area.kind);
  const { active, completed, failed, cancelled } = stats.data ?? {};
  const hasNone = [active, completed, failed, cancelled].every((count) => count === 0);
  const create = (
    <Button
      variant="primary"
      onClick={() =>
        area.sheet === 'create-model'
          ? sheets.open('create-model', { modelType: 'finetune' })
          : sheets.open('train-lora')
      }
    >
      <Plus aria-hidden />
      {area.create}
    </Button>
  );
  return (
    <ResourcePage title={area.title} description={area.description} actions={create}>
      {!hasNone && (
        <>
          <Stats stats={stats} />
          <FilterBar filters={filters} />
        </>
      )}
      <RunList area={area} compared={{ ids: compared, isFull, toggle }} create={create} />
      {compared.length > 0 && (
        <CompareRuns runIds={compared} isFull={isFull} onClose={() => compareOnly([])} />
      )}
    </ResourcePage>
  );
}

function Stats({ stats }: { stats: ReturnType<typeof useRunStats> }) {
  const { data } = stats;
  const figures = [
    { label: 'In progress', value: data && formatNumber(data.active) },
    { label: 'Completed', value: data && formatNumber(data.completed) },
    { label: 'Failed', value: data && formatNumber(data.failed) },
    { label: 'Stopped or cancelled', value: data && formatNumber(data.cancelled) },
    { label: 'Cost', value: data && <Money bgl={data.cost} /> },
  ];
  return (
    <dl className="mb-5 grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5 max-sm:[&>:last-child]:col-span-2">
      {figures.map(({ label, value }) => (
        <Figure key={label} card label={label}>
          {value ?? (stats.isError ? '–' : <Skeleton className="h-7 w-16" />)}
        </Figure>
      ))}
    </dl>
  );
}

type ListProps = { area: Area; compared: Parameters<typeof runsColumns>[0]; create: ReactNode };

function RunList({ area, compared, create }: ListProps) {
  const [{ search, state, sort }] = useUrlSearch<Search>();
  const navigate = useNavigate();
  const runs = useRuns({ kind: area.kind, search, state, sort });
  const isNarrowed = search !== undefined || state !== undefined;
  return (
    <ResourceTable
      label="Runs"
      query={runs}
      rows={(page) => page.runs}
      rowKey={(run) => run.run_id}
      rowHeight={60}
      columns={runsColumns(compared)}
      onRowClick={(run) => void navigate({ to: '/runs/$id', params: { id: run.run_id } })}
      failed="Your runs could not be loaded"
      empty={
        isNarrowed
          ? { title: 'No runs found', description: 'No runs match your search and filter.' }
          : {
              icon: <Sparkles aria-hidden />,
              title: 'No runs yet',
              description: area.empty,
              action: create,
            }
      }
    />
  );
}
