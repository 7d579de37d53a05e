import { Autocomplete } from '@base-ui/react/autocomplete';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { describeResult } from '../../modules/assets/search/describe-result.ts';
import { matchCommands } from '../palette/match-commands.ts';
import { useGeneratorPages, usePages } from '../palette/use-pages.ts';
import { SEARCH_BOX, SEARCH_LABEL, SearchFrame, searchInputClass } from './search-frame.tsx';
import { type Found, type Item, SearchPopup } from './search-popup.tsx';
import { useFound } from './use-found.ts';

const suggestedTags = ['transformers', 'pytorch', 'llama', 'code', 'text-generation'];

/** Beside what was found; the palette has all. */
const PAGES_MAX = 4;

type Props = {
  typed: string;
  onType: (typed: string) => void;
  /** Somebody is typing already: the focus stays here. */
  focused?: boolean;
  /** Something was chosen, and its page opens. */
  onChosen?: () => void;
  /** The palette goes on from what was typed here. */
  onOpenPalette: (typed: string) => void;
  /** What drops down is drawn in here: a part of the page that assistive technology knows. */
  container?: RefObject<HTMLElement | null>;
};

/** Finds own datasets and models, and those that everybody may use, while one types. */
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
      // The server has chosen them.
      mode="none"
      filter={null}
      value={typed}
      // A choice would write its label into the box.
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

/** What stands in the list for what was typed: what was found and the pages of that name; the suggested tags before anything is. */
function useFoundItems(typed: string): Found {
  const { results, similar, searching, error, words } = useFound(typed.trim(), { needsWords: true });
  const pages = [useGeneratorPages(typed), usePages()];
  if (typed.trim() === '') {
    const items = suggestedTags.map((tag) => ({ label: tag, tag }));
    return { items, words, similar: false, searching: false, error: null };
  }
  const found = results.map((result) => ({ label: result.name, result }));
  // What is found comes first, also for who presses Enter.
  const named = searching ? [] : matchCommands(pages, typed).flatMap(({ items }) => items);
  const items = [...found, ...named.slice(0, PAGES_MAX).map((page) => ({ label: page.label, page }))];
  return { items, words, similar, searching, error };
}
