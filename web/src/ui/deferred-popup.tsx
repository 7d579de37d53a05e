import { cloneElement, type ReactElement, type SyntheticEvent, useEffect, useState } from 'react';
import { preloadLater } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from './boundary.tsx';
import { type Fetchable, useOpening } from './use-opening.ts';

type Handler = (event: SyntheticEvent) => void;

type TriggerProps = {
  onClick?: Handler;
  onPointerEnter?: Handler;
  onFocus?: Handler;
  'aria-haspopup'?: Kind;
  'aria-expanded'?: boolean;
  'aria-busy'?: boolean | undefined;
};

type Kind = 'menu' | 'dialog';

type Props = {
  kind: Kind;
  trigger: ReactElement<TriggerProps>;
  /** Draws the open popup with its trigger. */
  popup: (trigger: ReactElement) => ReactElement;
  /** Its code, which may still have to be fetched: the popup opens as soon as that is there. */
  code: Fetchable;
};

/**
 * A button whose popup is no part of the first screen: it is loaded once somebody does something, so that it also opens when
 * nothing can be fetched any more, or as soon as the pointer or the focus comes near. Until it is there the button stays,
 * with its focus.
 */
export function DeferredPopup({ kind, trigger, popup, code }: Props) {
  const [opened, setOpened] = useState(false);
  const { open, waitingFor } = useOpening();
  const { preload } = code;
  useEffect(() => preloadLater([preload]), [preload]);
  if (opened) return <Boundary fallback={EmptyFallback}>{popup(trigger)}</Boundary>;
  const { onClick, onPointerEnter, onFocus } = trigger.props;
  return cloneElement(trigger, {
    onClick: (event) => {
      onClick?.(event);
      open(code, () => setOpened(true));
    },
    onPointerEnter: (event) => {
      onPointerEnter?.(event);
      void preload();
    },
    onFocus: (event) => {
      onFocus?.(event);
      void preload();
    },
    'aria-haspopup': kind,
    'aria-expanded': false,
    'aria-busy': waitingFor !== null || undefined,
  });
}
