import { cloneElement, type ReactElement, type SyntheticEvent, useEffect, useState } from 'react';
import { preloadLater } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from './boundary.tsx';
import { type Preloadable, useOpenWhenLoaded } from './use-open-when-loaded.ts';

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
  /** Renders the open popup with its trigger. */
  popup: (trigger: ReactElement) => ReactElement;
  /** Code of the popup, which opens once this has loaded. */
  code: Preloadable;
};

/**
 * A button whose popup isn't part of the first screen. Preloads the popup's code on hover, on focus and after
 * the first input, so that it opens even if the server is unreachable later. The button keeps its place and
 * its focus while loading.
 */
export function DeferredPopup({ kind, trigger, popup, code }: Props) {
  const [opened, setOpened] = useState(false);
  const { open, waitingFor } = useOpenWhenLoaded();
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
