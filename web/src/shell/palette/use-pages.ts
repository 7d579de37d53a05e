import { generatorNames } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useNavigate } from '@tanstack/react-router';
import { Clapperboard, ImagePlus } from 'lucide-react';
import { useUser } from '../../modules/accounts/session.ts';
import { useHelpLinks } from '../../modules/documentation/help-links.ts';
import { navGroups } from '../navigation/nav-items.ts';
import { useGoToItem } from '../navigation/use-go-to-item.ts';
import { furtherPages } from './further-pages.ts';
import type { Command, CommandGroup } from './match-commands.ts';
import { type FoundItem, withWords } from './sidebar-words.ts';

/** Returns all pages except the generators' pages. */
export function usePages(): CommandGroup<Command> {
  const toCommand = useToCommand();
  const inSidebar = navGroups(useUser(), useHelpLinks().documentation)
    .flatMap((group) => group.items)
    .map(withWords);
  return { value: 'Pages', items: [...inSidebar, ...furtherPages].map(toCommand) };
}

/** Returns the generators' pages. There are many, so only once something is typed. */
export function useGeneratorPages(typed: string): CommandGroup<Command> {
  const navigate = useNavigate();
  const names = typed.trim() === '' ? [] : generatorNames;
  const items = names.map((name): Command => {
    const generator = generators[name];
    const { title, maker, makes } = generator;
    const pictures = editsPictures(generator) ? 'Edits pictures' : 'Generates pictures';
    return {
      value: `generate-${name}`,
      label: title,
      note: makes === 'image' ? pictures : 'Generates videos',
      words: `${name} ${maker}`,
      icon: makes === 'image' ? ImagePlus : Clapperboard,
      run: () => void navigate({ to: `/${name}` }),
    };
  });
  return { value: 'Generators', items };
}

/** Returns a function that turns a navigation item into a command. */
export function useToCommand(): (item: FoundItem) => Command {
  const goTo = useGoToItem();
  return (item) => {
    const { label, words, icon } = item;
    return { value: label, label, words, icon, run: () => goTo(item) };
  };
}
