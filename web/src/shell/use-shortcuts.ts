import { useEffect, useEffectEvent } from 'react';

/** Ctrl/Cmd-K opens the palette; `/` goes to the page's search, or to the palette where there is none. */
export function useShortcuts({ onPalette }: { onPalette: () => void }): void {
  const open = useEffectEvent(onPalette);
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (
        event.key.toLowerCase() === 'k' &&
        (event.metaKey || event.ctrlKey) &&
        !event.shiftKey &&
        !event.altKey
      ) {
        event.preventDefault();
        open();
      } else if (event.key === '/' && !event.metaKey && !event.ctrlKey && !isTyping(event.target)) {
        event.preventDefault();
        const search = document.querySelector<HTMLInputElement>('[data-page-search]');
        if (search) search.focus();
        else open();
      }
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
