import { Keyboard, KeyRound, type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import { getCredentials } from '../../lib/api/credentials.ts';
import { copyText } from '../../lib/device/copy-text.ts';
import { useSheets } from '../../lib/sheet.ts';
import { themeChoice } from '../../lib/theme.ts';
import { useUser } from '../../modules/accounts/api.ts';
import { useHelpLinks } from '../../modules/documentation/api.ts';
import { notify } from '../../ui/notify.ts';
import { createItems, furtherPages, type NavItem, navGroups } from '../navigation/nav-items.ts';
import { useGoToItem } from '../navigation/use-go-to-item.ts';
import { matchCommands } from './match-commands.ts';
import type { Question } from './palette-dialog.tsx';
import { type SearchGroups, useSearchGroups } from './use-search-groups.ts';

export type Command = {
  value: string;
  label: string;
  /** Beside the label: what it is. */
  note?: string;
  words?: string;
  icon: LucideIcon;
  /** It asks something first, in the palette's place. */
  asks?: boolean;
  run: () => void;
};

/** What the palette offers for the typed words: actions and pages by name, and the person's things. */
export function useCommands(typed: string, ask: (question: Question) => void): SearchGroups {
  const actions = useActions();
  const pages = usePages();
  const { groups, ...found } = useSearchGroups(typed, ask);
  const offered = [{ value: 'Actions', items: actions }, { value: 'Pages', items: pages }, ...groups];
  return { groups: matchCommands(offered, typed), ...found };
}

function useActions(): Command[] {
  const toCommand = useToCommand();
  const sheets = useSheets();
  const themes = [
    { value: 'light', label: 'Use the light theme', icon: Sun },
    { value: 'dark', label: 'Use the dark theme', icon: Moon },
    { value: 'system', label: 'Use the system’s theme', icon: Monitor },
  ] as const;
  return [
    ...createItems.map(toCommand),
    {
      value: 'copy-api-key',
      label: 'Copy API key',
      words: 'token secret',
      icon: KeyRound,
      run: () => void copyApiKey(),
    },
    ...themes.map(({ value, label, icon }) => ({
      value: `theme-${value}`,
      label,
      words: 'appearance mode',
      icon,
      run: () => themeChoice.set(value),
    })),
    {
      value: 'shortcuts',
      label: 'Keyboard shortcuts',
      words: 'keys help',
      icon: Keyboard,
      run: () => sheets.open('shortcuts'),
    },
  ];
}

async function copyApiKey(): Promise<void> {
  try {
    await copyText(getCredentials()?.apiKey ?? '');
    notify.success('The API key was copied');
  } catch {
    notify.failure('This browser does not allow copying here. Open API-Key to see the key.');
  }
}

function usePages(): Command[] {
  const toCommand = useToCommand();
  const inSidebar = navGroups(useUser(), useHelpLinks().documentation).flatMap((group) => group.items);
  return [...inSidebar, ...furtherPages].map(toCommand);
}

function useToCommand(): (item: NavItem) => Command {
  const goTo = useGoToItem();
  return (item) => {
    const { label, words, icon } = item;
    return { value: label, label, words, icon, run: () => goTo(item) };
  };
}
