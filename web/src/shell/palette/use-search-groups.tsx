import { useNavigate } from '@tanstack/react-router';
import { GraduationCap, ImageIcon, type LucideIcon, Rocket } from 'lucide-react';
import { describeResult } from '../../modules/datasets/search/describe-result.ts';
import { GenerationThumbnail, shortPrompt } from '../../modules/gallery/thumbnail/generation-thumbnail.tsx';
import { useFound } from '../search/use-found.ts';
import type { Command, CommandGroup } from './match-commands.ts';
import { useFoundPictures } from './use-found-pictures.ts';
import { type FoundWork, useFoundWork } from './use-found-work.ts';

/** Maximum number of deployments, and of runs. */
const SHOWN_MAX = { atFirst: 5, forWords: 12 };

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
