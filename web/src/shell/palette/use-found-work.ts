import type { Run } from '@bakehouse/contract/runs';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useUser } from '../../modules/accounts/session.ts';
import { deploymentListQuery } from '../../modules/deployments/deployment-lists.ts';
import { type Deployment, linkTo, statusWord } from '../../modules/deployments/kinds.ts';
import { runListQuery, runsQuery } from '../../modules/fine-tuning/runs/run-queries.ts';
import { matchCommands, nameFits } from './match-commands.ts';

/** A run or a deployment of any kind. */
export type FoundWork = {
  id: string;
  label: string;
  /** Other words to search by. */
  words: string;
  /** For deployments: the name, to distinguish deployments of one model, and the status. */
  name?: string;
  status?: string;
  link: ReturnType<typeof linkTo> | { to: '/runs/$id'; params: { id: string } };
};

type Work = { deployments: FoundWork[]; runs: FoundWork[] };

/**
 * Returns deployments and runs: matches from the first pages immediately, and server results for the
 * `settled` text, including ended deployments.
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

/** First pages, which for most users contain all active deployments. */
function useNewest(): Work {
  const { id } = useUser();
  const text = useInfiniteQuery(deploymentListQuery('text', id)).data?.pages[0]?.deployments ?? [];
  const images = useInfiniteQuery(deploymentListQuery('image', id)).data?.pages[0]?.deployments ?? [];
  const runs = useInfiniteQuery(runListQuery).data?.pages[0]?.runs ?? [];
  const live = [...text, ...images].filter(({ terminated_at }) => terminated_at === null);
  return { deployments: deploymentsOf(live), runs: runs.map(ofRun) };
}

/** Searches by name on the server; keeps the previous results visible while loading. */
function useSearched(search: string) {
  const { id } = useUser();
  const options = { enabled: search !== '', placeholderData: keepPreviousData };
  const wanted = { search, status: 'all' } as const;
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

/** Sorts active deployments first, then by age, newest first. */
function deploymentsOf(deployments: readonly Deployment[]): FoundWork[] {
  return deployments
    .toSorted(
      (a, b) =>
        Number(a.terminated_at !== null) - Number(b.terminated_at !== null) ||
        b.created_at.localeCompare(a.created_at),
    )
    .map(ofDeployment);
}

function ofDeployment(deployment: Deployment): FoundWork {
  return {
    id: deployment.pod_id,
    label: deployment.title,
    words: deployment.kind === 'text' ? 'deployment chat' : 'deployment image picture',
    name: deployment.model_name,
    status: statusWord(deployment.status),
    link: linkTo(deployment),
  };
}

function ofRun({ run_id: id, title }: Run): FoundWork {
  return {
    ...{ id, label: title, words: 'run training fine-tune' },
    link: { to: '/runs/$id', params: { id } },
  };
}
