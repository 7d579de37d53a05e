import type { SearchResult } from '@bakehouse/contract/search';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { type LucideIcon, Tag } from 'lucide-react';
import type { RefObject } from 'react';
import { cx } from '../../lib/cx.ts';
import { COMMAND_KEY } from '../../lib/device/command-key.ts';
import { describeResult } from '../../modules/datasets/search/describe-result.ts';
import { errorMessage } from '../../ui/notify.ts';
import { itemClass, popupClass, popupLayer } from '../../ui/popup-class.ts';
import type { Command } from '../palette/match-commands.ts';

/** A list item: a suggested tag, a result or a page. */
export type Item = { label: string; tag?: string; result?: SearchResult; page?: Command };

export type Found = {
  items: Item[];
  /** The searched text. */
  words: string;
  /** Results for the current text are still loading. */
  searching: boolean;
  /** There is no exact match; the results are similar names. */
  similar: boolean;
  error: Error | null;
};

type Props = Found & {
  onChoose: (item: Item) => void;
  onOpenPalette: () => void;
  container: RefObject<HTMLElement | null> | undefined;
};

/** The dropdown of the search box. */
export function SearchPopup({ onChoose, onOpenPalette, container, ...found }: Props) {
  const { words, error } = found;
  return (
    <Autocomplete.Portal container={container}>
      <Autocomplete.Positioner className={popupLayer} sideOffset={6} collisionPadding={8} align="start">
        <Autocomplete.Popup
          className={cx(popupClass, 'w-[max(var(--anchor-width),min(26rem,var(--available-width)))]')}
        >
          <Autocomplete.Status className="px-2.5 pt-1.5 pb-1 text-muted text-xs empty:hidden">
            {statusOf(found)}
          </Autocomplete.Status>
          <Autocomplete.List className="max-h-[min(24rem,var(--available-height))] overflow-y-auto overscroll-contain empty:hidden">
            {(item: Item) => (
              <Autocomplete.Item
                key={item.result?.id ?? item.page?.value ?? item.label}
                value={item}
                className={itemClass}
                onClick={() => onChoose(item)}
              >
                <Line item={item} words={words} />
              </Autocomplete.Item>
            )}
          </Autocomplete.List>
          {error && (
            <p role="alert" className="px-2.5 py-1.5 text-compact text-bad">
              The search failed: {errorMessage(error)}
            </p>
          )}
          <button
            type="button"
            tabIndex={-1}
            onClick={onOpenPalette}
            className="mt-1 flex min-h-8 w-full items-center justify-between border-line border-t px-2.5 pt-2 pb-1 text-muted text-xs hover:text-ink"
          >
            Pages, actions and runs
            <kbd className="rounded border border-line-strong px-1.5 font-sans text-2xs">{COMMAND_KEY} K</kbd>
          </button>
        </Autocomplete.Popup>
      </Autocomplete.Positioner>
    </Autocomplete.Portal>
  );
}

/** Returns the status line above the list, which is also announced. */
function statusOf({ words, items, searching, similar, error }: Found): string {
  if (items[0]?.tag) return 'Suggested tags';
  if (!items.some(({ result }) => result)) return searching ? 'Searching…' : error ? '' : 'No models found';
  return similar ? `Nothing matches ‘${words}’. Did you mean one of these?` : '';
}

function Line({ item, words }: { item: Item; words: string }) {
  const { icon: Icon, note } = describeItem(item, words);
  return (
    <>
      <Icon aria-hidden />
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {item.label}
      </span>
      {note && <span className="max-w-1/2 truncate text-muted text-xs">{note}</span>}
    </>
  );
}

function describeItem({ result, page }: Item, words: string): { icon: LucideIcon; note?: string } {
  if (result) return describeResult(result, words);
  return page ? { icon: page.icon, note: page.note ?? 'Page' } : { icon: Tag };
}
