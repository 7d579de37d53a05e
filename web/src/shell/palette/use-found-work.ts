import type { Run } from '@bakehouse/contract/runs';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useUser } from '../../modules/accounts/session.ts';
import { deploymentListQuery } from '../../modules/deployments/deployment-lists.ts';
import { type Deployment, linkTo, statusWord } from '../../modules/deployments/kinds.ts';
import { runListQuery, runsQuery } from '../../modules/training/runs/run-queries.ts';
import { matchCommands, nameFits } from './match-commands.ts';
import type { Question } from './palette-dialog.tsx';

/** A deployment of any kind, or a run. */
export type FoundWork = {
  id: string;
  label: string;
  /** Other words that it is looked for by. */
  words: string;
  /** Of a deployment: its name, which tells it from others of its model, and how it is. */
  name?: string;
  status?: string;
  createdAt: string;
  link: ReturnType<typeof linkTo> | { to: '/runs/$id'; params: { id: string } };
  /** What is asked before it is terminated; nothing of what has ended. */
  termination?: Question;
};

type Work = { deployments: FoundWork[]; runs: FoundWork[] };

/**
 * Deployments and runs for what was typed: of those on the first pages what fits at once, and whatever the server finds by
 * name for the words that have `settled`, ended deployments too.
 */
export function useFoundWork(
  typed: string,
  settled: string,
): Work & { searching: boolean; error: Error | null } {
  const newest = useNewest();
  const found = useSearched(settled);
  const isOfOthers = settled !== typed || found.isPlaceholderData;
  const merge = (known: FoundWork[], searched: FoundWork[]) => {
    const matching = matchCommands([{ value: '', items: known }], typed)[0]?.items ?? [];
    const further = isOfOthers ? searched.filter(({ label }) => nameFits(label, typed)) : searched;
    return [...new Map([...matching, ...further].map((one) => [one.id, one])).values()];
  };
  return {
    deployments: merge(newest.deployments, typed === '' ? [] : found.deployments),
    runs: merge(newest.runs, typed === '' ? [] : found.runs),
    searching: typed !== '' && (settled !== typed || found.isFetching),
    error: found.error,
  };
}

/** The first pages: all deployments that have not ended, of most people. */
function useNewest(): Work {
  const { id } = useUser();
  const text = useInfiniteQuery(deploymentListQuery('text', id)).data?.pages[0]?.deployments ?? [];
  const images = useInfiniteQuery(deploymentListQuery('image', id)).data?.pages[0]?.deployments ?? [];
  const runs = useInfiniteQuery(runListQuery).data?.pages[0]?.runs ?? [];
  const live = [...text, ...images].filter(({ terminated_at }) => terminated_at === null);
  return { deployments: deploymentsOf(live), runs: runs.map(ofRun) };
}

/** What the server finds by name; what was found before stays in sight meanwhile. */
function useSearched(search: string) {
  const { id } = useUser();
  const options = { enabled: search !== '', placeholderData: keepPreviousData };
  const wanted = { search, ended: true };
  const text = useInfiniteQuery({ ...deploymentListQuery('text', id, wanted), ...options });
  const images = useInfiniteQuery({ ...deploymentListQuery('image', id, wanted), ...options });
  const runs = useInfiniteQuery({ ...runsQuery({ search }), ...options });
  const reads = [text, images, runs];
  return {
    deployments: deploymentsOf([text, images].flatMap(({ data }) => data?.pages[0]?.deployments ?? [])),
    runs: (runs.data?.pages[0]?.runs ?? []).map(ofRun),
    isPlaceholderData: reads.some(({ isPlaceholderData }) => isPlaceholderData),
    isFetching: reads.some(({ isFetching }) => isFetching),
    error: reads.find(({ error }) => error !== null)?.error ?? null,
  };
}

/** Those that have not ended first, the newest of each first. */
function deploymentsOf(deployments: readonly Deployment[]): FoundWork[] {
  return deployments
    .map(ofDeployment)
    .toSorted(
      (a, b) =>
        Number(a.termination === undefined) - Number(b.termination === undefined) ||
        b.createdAt.localeCompare(a.createdAt),
    );
}

function ofDeployment(deployment: Deployment): FoundWork {
  return {
    id: deployment.pod_id,
    label: deployment.title,
    words: deployment.kind === 'text' ? 'deployment chat' : 'deployment image picture',
    name: deployment.model_name,
    status: statusWord(deployment.status),
    createdAt: deployment.created_at,
    link: linkTo(deployment),
    ...(deployment.terminated_at === null && { termination: { kind: 'terminate', deployment } }),
  };
}

function ofRun({ run_id: id, title, created_at }: Run): FoundWork {
  return {
    ...{ id, label: title, createdAt: created_at, words: 'run training fine-tune' },
    link: { to: '/runs/$id', params: { id } },
  };
}
