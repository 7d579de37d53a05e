import { Keyboard, KeyRound, Monitor, Moon, Sun } from 'lucide-react';
import { getCredentials } from '../../lib/api/credentials.ts';
import { copyText } from '../../lib/device/copy-text.ts';
import { useSheets } from '../../lib/sheet.ts';
import { themeChoice } from '../../lib/theme.ts';
import { notify } from '../../ui/notify.ts';
import { createItems } from '../header/create-items.ts';
import { type Command, matchCommands } from './match-commands.ts';
import { useGeneratorPages, usePages, useToCommand } from './use-pages.ts';
import { type SearchGroups, useSearchGroups } from './use-search-groups.tsx';

/** Returns the palette's results: actions and pages by name, and the user's data. */
export function useCommands(typed: string): SearchGroups {
  const actions = useActions();
  const pages = usePages();
  const generatorPages = useGeneratorPages(typed);
  const { groups, ...found } = useSearchGroups(typed);
  // Generators come first because they are searched by their exact name.
  const offered = [generatorPages, { value: 'Actions', items: actions }, pages, ...groups];
  return { groups: matchCommands(offered, typed), ...found };
}

function useActions(): Command[] {
  const toCommand = useToCommand();
  const sheets = useSheets();
  const themes = [
    { value: 'light', label: 'Use the light theme', icon: Sun },
    { value: 'dark', label: 'Use the dark theme', icon: Moon },
    { value: 'system', label: 'Use the system theme', icon: Monitor },
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
