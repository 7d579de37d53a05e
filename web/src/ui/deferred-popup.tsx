import { cloneElement, type ReactElement, Suspense, useEffect, useState } from 'react';
import { preloadLater } from '../lib/when-idle.ts';
import { Boundary, type Broken, useRetry } from './boundary.tsx';

type TriggerProps = {
  onClick?: () => void;
  onPointerEnter?: () => void;
  onFocus?: () => void;
  'aria-haspopup'?: Kind;
  'aria-expanded'?: boolean;
};

type Kind = 'menu' | 'dialog';

type Props = {
  kind: Kind;
  trigger: ReactElement<TriggerProps>;
  /** Draws the open popup with its trigger. Its code, a `loadable`, may still have to be fetched: it opens as soon as that is there. */
  popup: (trigger: ReactElement) => ReactElement;
  /** Fetches that code. */
  preload: () => Promise<void>;
};

/**
 * A button whose popup is no part of the first screen: it is loaded once somebody does something, so that it also opens when
 * nothing can be fetched any more, or as soon as the pointer or the focus comes near.
 */
export function DeferredPopup({ kind, trigger, popup, preload }: Props) {
  const [opened, setOpened] = useState(false);
  useEffect(() => preloadLater([preload]), [preload]);
  const waiting = cloneElement(trigger, {
    onClick: () => setOpened(true),
    onPointerEnter: () => void preload(),
    onFocus: () => void preload(),
    'aria-haspopup': kind,
    'aria-expanded': false,
  });
  if (!opened) return waiting;
  return (
    <Boundary fallback={(broken: Broken) => <Unavailable {...broken} trigger={trigger} />}>
      <Suspense fallback={waiting}>{popup(trigger)}</Suspense>
    </Boundary>
  );
}

/** The button alone, whose click tries to fetch its popup again. */
function Unavailable({ trigger, ...broken }: Broken & Pick<Props, 'trigger'>) {
  return cloneElement(trigger, { onClick: useRetry(broken) });
}
