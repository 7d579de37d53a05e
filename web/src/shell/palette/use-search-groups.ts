import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GraduationCap, Power, Rocket } from 'lucide-react';
import { useUser } from '../../modules/accounts/api.ts';
import { describeResult } from '../../modules/assets/search/api.ts';
import { deploymentListQuery } from '../../modules/deployments/api.ts';
import { useImageDeployments } from '../../modules/deployments/images/calls.ts';
import { statusWord } from '../../modules/deployments/images/kinds.ts';
import { runListQuery } from '../../modules/training/api.ts';
import { useFound } from '../search/use-found.ts';
import { type CommandGroup, matchCommands } from './match-commands.ts';
import type { Question } from './palette-dialog.tsx';
import { parseVerb } from './parse-verb.ts';
import type { Command } from './use-commands.ts';

/** Of deployments and runs, which are matched here, the newest alone. */
const SHOWN_MAX = 5;

export type SearchGroups = {
  groups: CommandGroup<Command>[];
  /** The server's answer is still to come. */
  searching: boolean;
  error: Error | null;
};

/**
 * The person's things that fit what was typed: datasets and models as the server finds them, deployments and runs by
 * their titles. After a verb, what can be done with them.
 */
export function useSearchGroups(typed: string, ask: (question: Question) => void): SearchGroups {
  const { verb, words } = parseVerb(typed);
  const navigate = useNavigate();
  const { results, searching, error } = useFound(words);
  const live = useLiveDeployments();
  const runs = useInfiniteQuery(runListQuery).data?.pages[0]?.runs ?? [];

  if (verb === 'deploy') {
    const items = results
      .filter(({ deploys_as }) => deploys_as !== null)
      .map(({ id, name, deploys_as }): Command => {
        const command = { value: `deploy-${id}`, label: `Deploy ${name}`, icon: Rocket };
        return deploys_as === 'text'
          ? { ...command, asks: true, run: () => ask({ kind: 'deploy', modelId: id }) }
          : {
              ...command,
              note: 'Image model',
              run: () => void navigate({ to: '/my-deployments/images', search: { deploy: id } }),
            };
      });
    return { groups: [{ value: 'Deploy', items, found: true }], searching, error };
  }
  if (verb === 'terminate') {
    const items = live.map(({ id, title, termination }) => ({
      value: `terminate-${id}`,
      label: `Terminate ${title}`,
      words: 'stop',
      icon: Power,
      asks: true,
      run: () => ask(termination),
    }));
    return { groups: [{ value: 'Terminate', items }], searching: false, error: null };
  }
  const found = results.map((result) => {
    const { icon, note, link } = describeResult(result, words);
    return { value: result.id, label: result.name, note, icon, run: () => void navigate(link) };
  });
  const deployments = live.map(({ id, title, note, words: others, link }) => ({
    value: id,
    label: title,
    note,
    words: others,
    icon: Rocket,
    run: () => void navigate(link),
  }));
  const trainings = runs.map(({ run_id: runId, title }) => ({
    value: runId,
    label: title,
    words: 'run training fine-tune',
    icon: GraduationCap,
    run: () => void navigate({ to: '/runs/$id', params: { id: runId } }),
  }));
  return {
    groups: [
      { value: 'Datasets and models', items: found, found: true },
      { value: 'Deployments', items: newest(deployments, words), found: true },
      { value: 'Runs', items: newest(trainings, words), found: true },
    ],
    searching,
    error,
  };
}

function newest(items: Command[], words: string): Command[] {
  return (matchCommands([{ value: '', items }], words)[0]?.items ?? []).slice(0, SHOWN_MAX);
}

type LiveDeployment = {
  id: string;
  title: string;
  note: string;
  words: string;
  createdAt: string;
  link: { to: '/my-deployments/$podId' | '/my-deployments/images/$podId'; params: { podId: string } };
  termination: Question;
};

/** The deployments of every kind that have not ended, newest first. */
function useLiveDeployments(): LiveDeployment[] {
  const pods = useInfiniteQuery(deploymentListQuery('text', useUser().id)).data?.pages[0]?.pods ?? [];
  const deployed = useImageDeployments().data?.pages[0]?.deployments ?? [];
  const texts = pods.map(
    (pod): LiveDeployment => ({
      ...{ id: pod.pod_id, title: pod.title, createdAt: pod.created_at },
      ...{ note: pod.status, words: 'deployment chat' },
      link: { to: '/my-deployments/$podId', params: { podId: pod.pod_id } },
      termination: { kind: 'terminate', pod },
    }),
  );
  const images = deployed
    .filter(({ terminated_at }) => terminated_at === null)
    .map(
      (deployment): LiveDeployment => ({
        ...{ id: deployment.pod_id, title: deployment.title, createdAt: deployment.created_at },
        ...{ note: statusWord(deployment.status), words: 'deployment image picture' },
        link: { to: '/my-deployments/images/$podId', params: { podId: deployment.pod_id } },
        termination: { kind: 'terminate-image', deployment },
      }),
    );
  return [...texts, ...images].toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
}
