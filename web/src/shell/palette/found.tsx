import type { Generation } from '@bakehouse/contract/generations';
import type { Run } from '@bakehouse/contract/runs';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GraduationCap, ImageIcon, type LucideIcon, Rocket } from 'lucide-react';
import { useUser } from '../../modules/accounts/session.ts';
import { describeResult } from '../../modules/assets/search/describe-result.ts';
import { deploymentListQuery } from '../../modules/deployments/deployment-lists.ts';
import { type Deployment, linkTo, statusWord } from '../../modules/deployments/kinds.ts';
import { GenerationThumbnail, shortPrompt } from '../../modules/generations/face/generation-thumbnail.tsx';
import { generationsQuery, recentGenerationsQuery } from '../../modules/generations/generation-queries.ts';
import { runListQuery, runsQuery } from '../../modules/training/runs/run-queries.ts';
import { useFound } from '../search/use-found.ts';
import { type Command, type CommandGroup, matchCommands, nameFits } from './match-commands.ts';

/** Maximum number each of deployments and runs. */
const SHOWN_MAX = { atFirst: 5, forWords: 12 };

/** Returns pictures and videos whose prompts match the `settled` text, or the newest if it is empty. */
function useFoundPictures(typed: string, settled: string) {
  const { id } = useUser();
  const newest = useInfiniteQuery(recentGenerationsQuery(id));
  const found = useInfiniteQuery({
    ...generationsQuery(id, { search: settled }),
    enabled: settled !== '',
    // Keep the previous results visible while loading.
    placeholderData: keepPreviousData,
  });
  const all = (typed === '' ? newest : found).data?.pages[0]?.generations ?? [];
  const isOfOthers = typed !== '' && (settled !== typed || found.isPlaceholderData);
  return {
    pictures: isOfOthers ? all.filter(({ prompt }: Generation) => nameFits(prompt, typed)) : all,
    searching: typed !== '' && (settled !== typed || found.isFetching),
    error: found.error,
  };
}

/** A run or a deployment of any kind. */
type FoundWork = {
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
function useFoundWork(typed: string, settled: string): Work & { searching: boolean; error: Error | null } {
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

export type SearchGroups = {
  groups: CommandGroup<Command>[];
  /** Server results are still loading. */
  searching: boolean;
  error: Error | null;
};

/** Searches the user's data. */
export function useSearchGroups(typed: string): SearchGroups {
  const words = typed.trim();
  const navigate = useNavigate();
  const { results, searching, error, words: settled } = useFound(words);
  const work = useFoundWork(words, settled);
  const generations = useFoundPictures(words, settled);
  const found = results.map((result) => {
    const { icon, note, link } = describeResult(result, words);
    return { value: result.id, label: result.name, note, icon, run: () => void navigate(link) };
  });
  const most = words === '' ? SHOWN_MAX.atFirst : SHOWN_MAX.forWords;
  const toCommands = (all: FoundWork[], icon: LucideIcon) =>
    all.slice(0, most).map(({ id, label, name, status, link }): Command => {
      const command = { value: id, label, icon, run: () => void navigate(link) };
      const note = [name, status].filter((word) => word !== undefined).join(' · ');
      return note === '' ? command : { ...command, note };
    });
  const pictures = generations.pictures.slice(0, most).map((generation): Command => {
    const { id, prompt } = generation;
    return {
      ...{ value: id, label: shortPrompt(prompt), icon: ImageIcon },
      picture: <GenerationThumbnail generation={generation} className="-mx-1 -my-0.5 size-6" />,
      run: () => void navigate({ to: '/gallery/$id', params: { id } }),
    };
  });
  return {
    groups: [
      { value: 'Datasets and models', items: found, found: true },
      { value: 'Deployments', items: toCommands(work.deployments, Rocket), found: true },
      { value: 'Runs', items: toCommands(work.runs, GraduationCap), found: true },
      { value: 'Pictures and videos', items: pictures, found: true },
    ],
    searching: searching || work.searching || generations.searching,
    error: error ?? work.error ?? generations.error,
  };
}
