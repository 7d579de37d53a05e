import { useEffect, useEffectEvent } from 'react';
import { SEARCH_BOX } from './search/search-frame.tsx';

type Shortcuts = { onPalette: () => void; onHelp: () => void; areOff: boolean };

/**
 * Ctrl/Cmd-K opens the palette; `/` focuses the search box, or opens the palette if none is visible; `?`
 * lists the shortcuts.
 */
export function useShortcuts({ onPalette, onHelp, areOff }: Shortcuts): void {
  const open = useEffectEvent(onPalette);
  const help = useEffectEvent(onHelp);
  useEffect(() => {
    if (areOff) return;
    function onKey(event: KeyboardEvent) {
      const command = event.metaKey || event.ctrlKey;
      if (event.key.toLowerCase() === 'k' && command && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        open();
      } else if (!command && !isTyping(event.target) && (event.key === '/' || event.key === '?')) {
        // It would replace the open sheet.
        if (event.key === '?' && isInDialog(event.target)) return;
        event.preventDefault();
        if (event.key === '?') return help();
        const box = visibleSearchBox();
        if (!box) return open();
        box.focus();
        // A click also opens the suggested tags.
        box.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
      }
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [areOff]);
}

/** Returns the search box of the header or the menu, unless a dialog covers it. */
function visibleSearchBox(): HTMLInputElement | undefined {
  return [...document.querySelectorAll<HTMLInputElement>(`[${SEARCH_BOX}]`)].find(
    (box) => box.offsetParent !== null && !box.closest('[inert], [aria-hidden="true"]'),
  );
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="alertdialog"]') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
