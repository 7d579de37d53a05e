import type { Query } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { getCredentials, setCredentials } from '../lib/api/credentials.ts';
import { queryClient } from '../lib/api/query-client.ts';
import { onSessionMessage, type SessionMessage } from '../lib/session/session-channel.ts';
import { browserStorage, clearTabStorage } from '../lib/storage.ts';
import { refreshSession, sessionQuery } from '../modules/accounts/session.ts';
import { focusTitle } from '../ui/focus.ts';
import { SEARCH_BOX } from './search/search-frame.tsx';

/**
 * Handles session messages from all tabs: an invalid key, a new key, a sign-out. After signing out, public
 * pages stay open and other pages redirect to the landing page.
 */
export function useSessionMessages(): void {
  const navigate = useNavigate();
  const router = useRouter();

  const leave = useEffectEvent(async () => {
    setCredentials(null);
    clearTabStorage();
    browserStorage.forget();
    queryClient.setQueryData(sessionQuery.queryKey, null);
    const isPublic = router.state.matches.some(({ routeId }) => routeId === '/public');
    if (!isPublic) await navigate({ to: '/', replace: true, ignoreBlocker: true });
    // Refetch the current page's queries as a visitor and drop the rest.
    const predicate = ({ queryKey }: Query) => queryKey[0] !== 'session';
    queryClient.removeQueries({ predicate, ...(isPublic && { type: 'inactive' }) });
    if (isPublic) await queryClient.resetQueries({ predicate });
  });

  const follow = useEffectEvent(async ({ type, userId }: SessionMessage) => {
    const isMine = userId === getCredentials()?.userId;
    if (type === 'signed-out') return leave();
    if (type === 'signed-in' ? isMine : !isMine) return;
    const user = await refreshSession().catch(() => undefined);
    if (user === null) await leave();
  });

  useEffect(() => onSessionMessage((message) => void follow(message)), []);
}

/** Focuses the page title after navigation. */
export function useTitleFocus(): void {
  const router = useRouter();
  useEffect(() => {
    let stopWaiting = () => {};
    const unsubscribe = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      stopWaiting();
      // Skip the initial page, and leave the focus in dialogs: closing a sheet focuses the title itself.
      if (!fromLocation || !pathChanged || document.activeElement?.closest('[role=dialog]')) return;
      stopWaiting = focusTitle();
    });
    return () => {
      unsubscribe();
      stopWaiting();
    };
  }, [router]);
}

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
        // Like a press, opens the suggested tags.
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
