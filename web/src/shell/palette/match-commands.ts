import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

type Searchable = { label: string; words?: string };

export type Command = {
  value: string;
  label: string;
  /** Beside the label: what it is. */
  note?: string;
  words?: string;
  icon: LucideIcon;
  /** Stands in the place of the icon. */
  picture?: ReactNode;
  run: () => void;
};

/** One heading of the palette; `found` by the server, which looked at more than the label. */
export type CommandGroup<Item> = { value: string; items: Item[]; found?: boolean };

/**
 * What fits the words that were typed: each of them begins a word of the label or one of its other names. Groups
 * without anything fall out.
 */
export function matchCommands<Item extends Searchable>(
  groups: CommandGroup<Item>[],
  typed: string,
): CommandGroup<Item>[] {
  const wanted = wordsOf(typed);
  return groups
    .map((group) =>
      group.found ? group : { ...group, items: group.items.filter((item) => fits(item, wanted)) },
    )
    .filter((group) => group.items.length > 0);
}

/** Whether each of the words begins a word of a name. Pure. */
export function nameFits(name: string, typed: string): boolean {
  return fits({ label: name }, wordsOf(typed));
}

function fits({ label, words = '' }: Searchable, wanted: string[]): boolean {
  const names = wordsOf(`${label} ${words}`);
  return wanted.every((word) => names.some((name) => name.startsWith(word)));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
