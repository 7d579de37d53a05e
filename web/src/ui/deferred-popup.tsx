import {
  cloneElement,
  type ReactElement,
  Suspense,
  startTransition,
  useEffect,
  useEffectEvent,
  useState,
} from 'react';
import { preloadLater } from '../lib/when-idle.ts';
import { Boundary, type Broken } from './boundary.tsx';
import { notify } from './notify.ts';

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
  const open = () => {
    // It may have failed before.
    void preload();
    // In a transition: the button stays, with its focus, until the popup can be drawn.
    startTransition(() => setOpened(true));
  };
  const waiting = cloneElement(trigger, {
    onClick: open,
    onPointerEnter: () => void preload(),
    onFocus: () => void preload(),
    'aria-haspopup': kind,
    'aria-expanded': false,
  });
  const giveUp = ({ reset }: Broken) => (
    <GivingUp
      close={() => {
        setOpened(false);
        reset();
      }}
    >
      {waiting}
    </GivingUp>
  );
  return (
    <Boundary fallback={giveUp}>
      <Suspense fallback={waiting}>{opened ? popup(trigger) : waiting}</Suspense>
    </Boundary>
  );
}

/** The popup could not be had: that is said, and its button can be used again. It must not open by itself a while later. */
function GivingUp({ close, children }: { close: () => void; children: ReactElement }) {
  const closeNow = useEffectEvent(close);
  useEffect(() => {
    notify.failure('This could not be opened', { description: 'Please try again.', id: 'popup' });
    closeNow();
  }, []);
  return children;
}
