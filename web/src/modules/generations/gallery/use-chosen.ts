import type { Generation } from '@bakehouse/contract/generations';
import { type KeyboardEvent, type SyntheticEvent, useRef, useState } from 'react';
import { choose } from './choose.ts';

/**
 * The pictures that are chosen among those that are shown. With Shift all from the last one on are; Ctrl+A chooses all
 * and Escape none, wherever in the grid the focus is.
 */
export function useChosen(generations: readonly Generation[]) {
  const [chosen, setChosen] = useState<string[]>([]);
  const last = useRef<string | null>(null);
  const shift = useRef(false);
  const shown = generations.filter(({ state }) => state === 'completed').map(({ id }) => id);
  // Both are asked for each of what may be thousands.
  const choosable = new Set(shown);
  const marked = new Set(chosen);
  const noteShift = (event: SyntheticEvent) => {
    if ('shiftKey' in event.nativeEvent) shift.current = event.nativeEvent.shiftKey === true;
  };

  return {
    chosen: generations.filter(({ id }) => choosable.has(id) && marked.has(id)),
    isChosen: (id: string) => marked.has(id),
    canBeChosen: (id: string) => choosable.has(id),
    /** How many can be. */
    count: shown.length,
    toggle: (id: string, checked: boolean) => {
      setChosen(choose(chosen, { shown, id, checked, from: shift.current ? last.current : null }));
      last.current = id;
    },
    clear: () => setChosen([]),
    chooseAll: () => setChosen(shown),
    /** For what stands around the grid. */
    handlers: {
      onClickCapture: noteShift,
      onKeyDownCapture: noteShift,
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key === 'Escape' && chosen.length > 0) setChosen([]);
        if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          setChosen(shown);
        }
      },
    },
  };
}
