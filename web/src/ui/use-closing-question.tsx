import { type BlockerFn, useRouter } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** Confirmation shown before closing. */
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

/** Confirmation for one-time secrets. */
export const oneTimeSecretQuestion: ClosingQuestion = {
  title: 'Leave without copying?',
  description: 'It will not be shown again.',
  action: 'Leave',
  cancelLabel: 'Stay here',
};

/** The part of the app that contains it; leaving that part destroys it. */
type PartOf = 'page' | 'shell';

type Closing = {
  /** Closes immediately, or asks first. */
  requestClose: () => void;
  question: ReactNode;
};

/**
 * Confirms before unsaved input is lost by closing or by leaving its page through the palette, Back or a
 * reload. Back from an open sheet only hides it, and its input is there when it opens again.
 */
export function useClosingQuestion(
  dirty: boolean | ClosingQuestion,
  partOf: PartOf,
  onClose: () => void,
): Closing {
  // Keep the question stable while it is shown, even if `dirty` changes.
  const [asked, setAsked] = useState({ ...discard, open: false });
  const openQuestion = () => setAsked({ ...(typeof dirty === 'object' ? dirty : discard), open: true });
  // Resolves the blocked navigation; null if only this is closing.
  const block = useRef<((blocked: boolean) => void) | null>(null);
  useNavigationBlocker(dirty !== false, partOf, () => {
    openQuestion();
    return new Promise((resolve) => {
      block.current = resolve;
    });
  });
  // Cancel a blocked navigation on unmount.
  const stay = useEffectEvent(() => block.current?.(true));
  useEffect(() => () => stay(), []);
  const answer = (discarded: boolean) => {
    setAsked((before) => ({ ...before, open: false }));
    if (block.current) block.current(!discarded);
    else if (discarded) onClose();
    block.current = null;
  };
  return {
    requestClose: () => (dirty ? openQuestion() : onClose()),
    question: (
      <ConfirmDialog
        {...asked}
        onOpenChange={(open) => !open && answer(false)}
        onConfirm={() => answer(true)}
      />
    ),
  };
}

/**
 * Calls `isBlocked` before a navigation that leaves the page or its shell; before a reload the browser asks.
 */
function useNavigationBlocker(active: boolean, partOf: PartOf, isBlocked: () => Promise<boolean>): void {
  // Components outside a router still render; they have no navigation to block.
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
