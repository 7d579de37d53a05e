import type { SearchResult } from '@bakehouse/contract/search';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { useNavigate } from '@tanstack/react-router';
import { type LucideIcon, Tag } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { cx } from '../../lib/cx.ts';
import { COMMAND_KEY } from '../../lib/device/device.ts';
import { describeResult } from '../../modules/assets/search/describe-result.ts';
import { errorMessage } from '../../ui/notify.ts';
import { itemClass, popupClass, popupLayer } from '../../ui/popup-class.ts';
import { useGeneratorPages, usePages } from '../palette/commands.ts';
import { type Command, matchCommands } from '../palette/match-commands.ts';
import { SEARCH_BOX, SEARCH_LABEL, SearchFrame, searchInputClass } from './search-frame.tsx';
import { useFound } from './use-found.ts';

const suggestedTags = ['transformers', 'pytorch', 'llama', 'code', 'text-generation'];

/** Maximum number of pages below the results; the palette shows all. */
const PAGES_MAX = 4;

type Props = {
  typed: string;
  onType: (typed: string) => void;
  /** The user is already typing: keep the focus. */
  focused?: boolean;
  /** Called when a result is chosen and its page opens. */
  onChosen?: () => void;
  /** Opens the palette with the typed text. */
  onOpenPalette: (typed: string) => void;
  /** Container of the dropdown, so that it is inside a landmark. */
  container?: RefObject<HTMLElement | null>;
};

/** Searches the user's and public datasets and models while typing. */
export function SearchBox({ typed, onType, focused = false, onChosen, onOpenPalette, container }: Props) {
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(focused);
  const found = useFoundItems(typed);
  useEffect(() => {
    if (focused) input.current?.focus();
  }, [focused]);

  function choose({ tag, result, page }: Item) {
    if (tag) return onType(tag);
    onType('');
    setOpen(false);
    input.current?.blur();
    onChosen?.();
    if (result) void navigate(describeResult(result, found.words).link);
    page?.run();
  }

  return (
    <Autocomplete.Root
      items={found.items}
      // Already filtered by the server.
      mode="none"
      filter={null}
      value={typed}
      // Choosing an item would write its label into the input.
      onValueChange={(text, { reason }) => reason !== 'item-press' && onType(text)}
      open={open}
      onOpenChange={(next, { reason }) => reason !== 'item-press' && setOpen(next)}
      openOnInputClick
      autoHighlight
    >
      <SearchFrame>
        <Autocomplete.Input
          ref={input}
          {...{ [SEARCH_BOX]: '' }}
          aria-label={SEARCH_LABEL}
          placeholder="Search models and datasets"
          className={searchInputClass}
        />
      </SearchFrame>
      <SearchPopup
        {...found}
        onChoose={choose}
        onOpenPalette={() => onOpenPalette(typed)}
        container={container}
      />
    </Autocomplete.Root>
  );
}

/** Returns the list for the typed text: results and matching pages, or suggested tags if it is empty. */
function useFoundItems(typed: string): Found {
  const { results, similar, searching, error, words } = useFound(typed.trim(), { needsWords: true });
  const pages = [useGeneratorPages(typed), usePages()];
  if (typed.trim() === '') {
    const items = suggestedTags.map((tag) => ({ label: tag, tag }));
    return { items, words, similar: false, searching: false, error: null };
  }
  const found = results.map((result) => ({ label: result.name, result }));
  // Results come first, so that Enter opens one.
  const named = searching ? [] : matchCommands(pages, typed).flatMap(({ items }) => items);
  const items = [...found, ...named.slice(0, PAGES_MAX).map((page) => ({ label: page.label, page }))];
  return { items, words, similar, searching, error };
}

/** A list item: a suggested tag, a result or a page. */
type Item = { label: string; tag?: string; result?: SearchResult; page?: Command };

type Found = {
  items: Item[];
  /** The searched text. */
  words: string;
  /** Results for the current text are still loading. */
  searching: boolean;
  /** There is no exact match; the results are similar names. */
  similar: boolean;
  error: Error | null;
};

type SearchPopupProps = Found & {
  onChoose: (item: Item) => void;
  onOpenPalette: () => void;
  container: RefObject<HTMLElement | null> | undefined;
};

/** The dropdown of the search box. */
function SearchPopup({ onChoose, onOpenPalette, container, ...found }: SearchPopupProps) {
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
            <p role="alert" className="px-2.5 py-1.5 text-[0.8125rem] text-bad">
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
