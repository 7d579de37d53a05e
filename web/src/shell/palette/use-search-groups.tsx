import { useNavigate } from '@tanstack/react-router';
import { GraduationCap, ImageIcon, type LucideIcon, Power, Rocket } from 'lucide-react';
import { describeResult } from '../../modules/assets/search/describe-result.ts';
import { Face, shortPrompt } from '../../modules/generations/face/face.tsx';
import { useFound } from '../search/use-found.ts';
import type { Command, CommandGroup } from './match-commands.ts';
import type { Question } from './palette-dialog.tsx';
import { parseVerb } from './parse-verb.ts';
import { useFoundPictures } from './use-found-pictures.ts';
import { type FoundWork, useFoundWork } from './use-found-work.ts';

/** Deployments and runs at most, each. */
const SHOWN_MAX = { atFirst: 5, forWords: 12 };

export type SearchGroups = {
  groups: CommandGroup<Command>[];
  /** The server's answer is still to come. */
  searching: boolean;
  error: Error | null;
};

/** The person's things that fit what was typed, as the server finds them. After a verb, what can be done with them. */
export function useSearchGroups(typed: string, ask: (question: Question) => void): SearchGroups {
  const { verb, words } = parseVerb(typed);
  const navigate = useNavigate();
  const { results, searching, error, words: settled } = useFound(words);
  const work = useFoundWork(words, settled);
  const generations = useFoundPictures(words, settled);

  if (verb === 'deploy') {
    const items = results
      .filter(({ deploys_as }) => deploys_as !== null)
      .map(({ id, name, deploys_as }): Command => {
        const command = { value: `deploy-${id}`, label: `Deploy ${name}`, icon: Rocket };
        return deploys_as === 'text'
          ? { ...command, asks: true, run: () => ask({ kind: 'deploy', family: 'text', modelId: id }) }
          : {
              ...command,
              note: 'Image model',
              run: () => void navigate({ to: '/my-deployments/images', search: { deploy: id } }),
            };
      });
    return { groups: [{ value: 'Deploy', items, found: true }], searching, error };
  }
  if (verb === 'terminate') {
    const items = work.deployments.flatMap(({ id, label, name, termination }): Command[] =>
      termination
        ? [
            {
              value: `terminate-${id}`,
              label: `Terminate ${label}`,
              ...(name !== undefined && { note: name }),
              icon: Power,
              asks: true,
              run: () => ask(termination),
            },
          ]
        : [],
    );
    const groups = [{ value: 'Terminate', items, found: true }];
    return { groups, searching: work.searching, error: work.error };
  }
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
      picture: <Face generation={generation} className="-mx-1 -my-0.5 size-6" />,
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
