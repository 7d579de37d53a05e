import { generatorNames } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { useNavigate } from '@tanstack/react-router';
import { Clapperboard, ImagePlus } from 'lucide-react';
import { useUser } from '../../modules/accounts/api.ts';
import { useHelpLinks } from '../../modules/documentation/api.ts';
import { furtherPages, type NavItem, navGroups } from '../navigation/nav-items.ts';
import { useGoToItem } from '../navigation/use-go-to-item.ts';
import type { CommandGroup } from './match-commands.ts';
import type { Command } from './use-commands.ts';

/** All pages; those of the generators, which are many, only for who types something. */
export function usePages(typed: string): CommandGroup<Command>[] {
  const toCommand = useToCommand();
  const navigate = useNavigate();
  const inSidebar = navGroups(useUser(), useHelpLinks().documentation).flatMap((group) => group.items);
  const pages = { value: 'Pages', items: [...inSidebar, ...furtherPages].map(toCommand) };
  if (typed.trim() === '') return [pages];
  const generating = generatorNames.map((name): Command => {
    const { title, maker, makes } = generators[name];
    return {
      value: `generate-${name}`,
      label: title,
      note: makes === 'image' ? 'Generates pictures' : 'Generates videos',
      words: `${name} ${maker} ${makes === 'image' ? 'image picture' : 'video film'} generate generator`,
      icon: makes === 'image' ? ImagePlus : Clapperboard,
      run: () => void navigate({ to: `/${name}` }),
    };
  });
  return [pages, { value: 'Generators', items: generating }];
}

/** A command that leads to an item of the navigation. */
export function useToCommand(): (item: NavItem) => Command {
  const goTo = useGoToItem();
  return (item) => {
    const { label, words, icon } = item;
    return { value: label, label, words, icon, run: () => goTo(item) };
  };
}
