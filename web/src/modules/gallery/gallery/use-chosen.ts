import type { Generation } from '@bakehouse/contract/generations';
import { type KeyboardEvent, type SyntheticEvent, useRef, useState } from 'react';
import { choose } from './choose.ts';

/**
 * The selected pictures among the displayed ones. Shift selects a range; Ctrl+A selects all and Escape none,
 * anywhere in the grid.
 */
export function useChosen(generations: readonly Generation[]) {
  const [chosen, setChosen] = useState<string[]>([]);
  const last = useRef<string | null>(null);
  const shift = useRef(false);
  const shown = generations
    .filter(({ state }) => state !== 'queued' && state !== 'running')
    .map(({ id }) => id);
  // Sets, because there may be thousands of pictures.
  const choosable = new Set(shown);
  const marked = new Set(chosen);
  const recordShift = (event: SyntheticEvent) => {
    if ('shiftKey' in event.nativeEvent) shift.current = event.nativeEvent.shiftKey === true;
  };

  return {
    chosen: generations.filter(({ id }) => choosable.has(id) && marked.has(id)),
    isChosen: (id: string) => marked.has(id),
    canBeChosen: (id: string) => choosable.has(id),
    /** Number of selectable pictures. */
    count: shown.length,
    toggle: (id: string, checked: boolean) => {
      setChosen(choose(chosen, { shown, id, checked, from: shift.current ? last.current : null }));
      last.current = id;
    },
    clear: () => setChosen([]),
    chooseAll: () => setChosen(shown),
    /** For the element around the grid. */
    handlers: {
      onClickCapture: recordShift,
      onKeyDownCapture: recordShift,
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
