import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Boxes, Database, type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import { themeChoice } from '../lib/theme.ts';
import { useDebounced } from '../lib/use-debounced.ts';
import { useUser } from '../modules/accounts/api.ts';
import { assetListQuery } from '../modules/assets/api.ts';
import { type CommandGroup, matchCommands } from './match-commands.ts';
import { createItems, type NavItem, navGroups } from './nav-items.ts';
import { useGoToItem } from './use-go-to-item.ts';

export type Command = { value: string; label: string; words?: string; icon: LucideIcon; run: () => void };

/**
 * What the palette offers for the typed words: actions and pages by name, own datasets and models and the starter models
 * as the server finds them. `searching` while its answer is still to come.
 */
export function useCommands(typed: string): { groups: CommandGroup<Command>[]; searching: boolean } {
  const actions = useActions();
  const pages = usePages();
  const search = useDebounced(typed.trim());
  const datasets = useFound('RAW', search);
  const models = useFound('MODEL', search);
  return {
    groups: matchCommands(
      [
        { value: 'Actions', items: actions },
        { value: 'Pages', items: pages },
        { value: 'Datasets', items: datasets.items, found: true },
        { value: 'Models', items: models.items, found: true },
      ],
      typed,
    ),
    searching: search !== typed.trim() || datasets.searching || models.searching,
  };
}

function useActions(): Command[] {
  const toCommand = useToCommand();
  const themes = [
    { value: 'light', label: 'Use the light theme', icon: Sun },
    { value: 'dark', label: 'Use the dark theme', icon: Moon },
    { value: 'system', label: 'Use the system’s theme', icon: Monitor },
  ] as const;
  return [
    ...createItems.map(toCommand),
    ...themes.map(({ value, label, icon }) => ({
      value: `theme-${value}`,
      label,
      words: 'appearance mode',
      icon,
      run: () => themeChoice.set(value),
    })),
  ];
}

function usePages(): Command[] {
  const toCommand = useToCommand();
  return navGroups(useUser())
    .flatMap((group) => group.items)
    .map(toCommand);
}

function useToCommand(): (item: NavItem) => Command {
  const goTo = useGoToItem();
  return (item) => {
    const { label, words, icon } = item;
    return { value: label, label, words, icon, run: () => goTo(item) };
  };
}

const kinds = {
  RAW: { icon: Database, to: '/dataset/$id/description' },
  MODEL: { icon: Boxes, to: '/model/$id/description' },
} as const;

/** The first page of what the server finds; it also looks at ids, tags and base models. */
function useFound(types: keyof typeof kinds, search: string): { items: Command[]; searching: boolean } {
  const user = useUser();
  const navigate = useNavigate();
  const list = useInfiniteQuery(
    assetListQuery(user.id, { types, search, includeStarter: types === 'MODEL' }),
  );
  const { icon, to } = kinds[types];
  const items = (list.data?.pages[0]?.datasets ?? []).map(({ dataset_id, title }) => ({
    value: dataset_id,
    label: title,
    icon,
    run: () => void navigate({ to, params: { id: dataset_id } }),
  }));
  return { items, searching: list.isPending };
}
