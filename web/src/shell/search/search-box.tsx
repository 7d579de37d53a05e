import { Autocomplete } from '@base-ui/react/autocomplete';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useRef, useState } from 'react';
import { describeResult } from '../../modules/datasets/search/describe-result.ts';
import { matchCommands } from '../palette/match-commands.ts';
import { useGeneratorPages, usePages } from '../palette/use-pages.ts';
import { SEARCH_BOX, SEARCH_LABEL, SearchFrame, searchInputClass } from './search-frame.tsx';
import { type Found, type Item, SearchPopup } from './search-popup.tsx';
import { useFound } from './use-found.ts';

const suggestedTags = ['transformers', 'pytorch', 'llama', 'code', 'text-generation'];

/** Maximum number of pages below the results; the palette shows all. */
const PAGES_MAX = 4;

type Props = {
  typed: string;
  onType: (typed: string) => void;
  /** Called when a result is chosen and its page opens. */
  onChosen?: () => void;
  /** Opens the palette with the typed text. */
  onOpenPalette: (typed: string) => void;
  /** Container of the dropdown, so that it is inside a landmark. */
  container?: RefObject<HTMLElement | null>;
};

/** Searches the user's and public datasets and models while typing. */
export function SearchBox({ typed, onType, onChosen, onOpenPalette, container }: Props) {
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const found = useFoundItems(typed);

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
