import { generatorNames } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useNavigate } from '@tanstack/react-router';
import {
  Clapperboard,
  CloudDownload,
  FileText,
  ImagePlus,
  Images,
  Keyboard,
  KeyRound,
  Lock,
  Monitor,
  Moon,
  Rocket,
  Sun,
} from 'lucide-react';
import { getCredentials } from '../../lib/api/credentials.ts';
import { copyText } from '../../lib/device/copy-text.ts';
import { useSheets } from '../../lib/sheet.ts';
import { themeChoice } from '../../lib/theme.ts';
import { useUser } from '../../modules/accounts/session.ts';
import { useHelpLinks } from '../../modules/documentation/help-links.ts';
import { notify } from '../../ui/notify.ts';
import { createItems } from '../header/create-items.ts';
import { navGroups } from '../navigation/nav-items.ts';
import { useGoToItem } from '../navigation/use-go-to-item.ts';
import { type SearchGroups, useSearchGroups } from './found.tsx';
import { type Command, type CommandGroup, matchCommands } from './match-commands.ts';
import { type FoundItem, withWords } from './sidebar-words.ts';

/** Pages that are in the palette but not in the sidebar. */
const furtherPages: FoundItem[] = [
  {
    kind: 'route',
    label: 'Gallery',
    to: '/gallery',
    icon: Images,
    words: 'generations pictures images history prompts compare',
  },
  {
    kind: 'route',
    label: 'Deploy Image Models',
    to: '/my-deployments/images',
    icon: Rocket,
    words: 'flux kontext paris serve inference deployment stop terminate',
  },
  {
    kind: 'route',
    label: 'Model Hub',
    to: '/model-hub',
    icon: CloudDownload,
    words: 'clone hugging face download search import models datasets gated token',
  },
  {
    kind: 'route',
    label: 'Rows from documents',
    to: '/drafts',
    icon: FileText,
    words: 'drafts pdf docx word markdown questions answers synthetic data recipes generate dataset',
  },
  {
    kind: 'route',
    label: 'Restricted Models',
    to: '/model/source',
    icon: Lock,
    words: 'gated request access licence',
  },
];

let kept = '';

/** True if Enter was the last key. */
let entered = false;

let callOff = () => {};

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
function useToCommand(): (item: FoundItem) => Command {
  const goTo = useGoToItem();
  return (item) => {
    const { label, words, icon } = item;
    return { value: label, label, words, icon, run: () => goTo(item) };
  };
}

function keep(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, isComposing } = event;
  if (ctrlKey || metaKey || altKey) return;
  if (key.length === 1) kept += key;
  else if (key === 'Backspace') kept = kept.slice(0, -1);
  else if (key === 'Escape') callOff();
  else if (key !== 'Enter') return;
  entered = key === 'Enter' && !isComposing;
  // The page behind the palette must not receive it.
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Buffers keystrokes after `begun` until `releaseKeystrokes` and hides them from the page. Escape calls `onEscape`.
 */
export function bufferKeystrokes(begun: string, onEscape: () => void): void {
  kept = begun;
  callOff = onEscape;
  addEventListener('keydown', keep, true);
}

/** Returns the buffered text and whether Enter followed it, and releases the keyboard. */
export function releaseKeystrokes(): { typed: string; entered: boolean } {
  removeEventListener('keydown', keep, true);
  const taken = { typed: kept, entered };
  kept = '';
  entered = false;
  return taken;
}
