import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

type Searchable = { label: string; words?: string };

export type Command = {
  value: string;
  label: string;
  /** Kind of the item, shown next to the label. */
  note?: string;
  words?: string;
  icon: LucideIcon;
  /** Replaces the icon. */
  picture?: ReactNode;
  run: () => void;
};

/** A section of the palette; `found` if the server matched more than the label. */
export type CommandGroup<Item> = { value: string; items: Item[]; found?: boolean };

/**
 * Returns the items that match: each typed word starts a word of the label or a synonym. Drops empty groups.
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

/** Returns true if each typed word starts a word of the name. */
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
