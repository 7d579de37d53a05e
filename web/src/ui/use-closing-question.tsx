import { type BlockerFn, useRouter } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** What is asked before something closes. */
export type ClosingQuestion = Pick<
  ComponentProps<typeof ConfirmDialog>,
  'title' | 'description' | 'action' | 'cancelLabel' | 'tone'
>;

const discard: ClosingQuestion = {
  title: 'Discard what you entered?',
  description: 'It has not been saved yet.',
  action: 'Discard',
  cancelLabel: 'Keep editing',
};

/** About what is never shown again. */
export const shownOnce: ClosingQuestion = {
  title: 'Leave without copying?',
  description: 'It will not be shown again.',
  action: 'Leave',
  cancelLabel: 'Stay here',
};

/** What it is part of: it is gone once that is left. */
type PartOf = 'page' | 'shell';

type Closing = {
  /** Closes at once, or asks first. */
  requestClose: () => void;
  question: ReactNode;
};

/**
 * Asks before something with typed text closes, or its page is left by the palette, by Back or by a reload: whether to
 * discard it, or the question that is given. Back from an open sheet only hides it: what was typed is there when it opens
 * again.
 */
export function useClosingQuestion(
  dirty: boolean | ClosingQuestion,
  partOf: PartOf,
  onClose: () => void,
): Closing {
  // What has been asked stays as it is, also when meanwhile there is nothing left to ask about.
  const [asked, setAsked] = useState({ ...discard, open: false });
  const ask = () => setAsked({ ...(typeof dirty === 'object' ? dirty : discard), open: true });
  // The navigation that waits for the answer; null where only this is closed.
  const block = useRef<((blocked: boolean) => void) | null>(null);
  useNavigationBlocker(dirty !== false, partOf, () => {
    ask();
    return new Promise((resolve) => {
      block.current = resolve;
    });
  });
  // With what was asked about, the navigation that waits is over.
  const stay = useEffectEvent(() => block.current?.(true));
  useEffect(() => () => stay(), []);
  const answer = (discarded: boolean) => {
    setAsked((before) => ({ ...before, open: false }));
    if (block.current) block.current(!discarded);
    else if (discarded) onClose();
    block.current = null;
  };
  return {
    requestClose: () => (dirty ? ask() : onClose()),
    question: (
      <ConfirmDialog
        {...asked}
        onOpenChange={(open) => !open && answer(false)}
        onConfirm={() => answer(true)}
      />
    ),
  };
}

/** Calls `isBlocked` before a navigation that leaves the page or its shell; the browser itself asks before a reload. */
function useNavigationBlocker(active: boolean, partOf: PartOf, isBlocked: () => Promise<boolean>): void {
  // Without a router, nothing navigates.
  const router = useRouter({ warn: false }) as ReturnType<typeof useRouter> | null;
  const ask = useEffectEvent(isBlocked);
  useEffect(() => {
    if (!active || !router) return;
    const placeOf = ({ pathname }: { pathname: string }) =>
      partOf === 'page' ? pathname : router.getMatchedRoutes(pathname)[0][1]?.id;
    const blockerFn: BlockerFn = ({ currentLocation, nextLocation }) =>
      placeOf(currentLocation) !== placeOf(nextLocation) && ask();
    return router.history.block({ blockerFn });
  }, [active, router, partOf]);
}
