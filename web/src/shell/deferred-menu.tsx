import { type ComponentType, cloneElement, type ReactElement, Suspense, useState } from 'react';

type TriggerProps = {
  onClick?: () => void;
  onPointerEnter?: () => void;
  onFocus?: () => void;
  'aria-haspopup'?: 'menu';
  'aria-expanded'?: boolean;
};

type Props = {
  trigger: ReactElement<TriggerProps>;
  /** Starts the download of the menu's code. */
  preload: () => void;
  /** The menu, loaded lazily; it opens as soon as it is there. */
  menu: ComponentType<{ trigger: ReactElement }>;
};

/** A menu button whose menu is loaded when the pointer or the focus comes near, which keeps it out of the first screen. */
export function DeferredMenu({ trigger, preload, menu: LoadedMenu }: Props) {
  const [opened, setOpened] = useState(false);
  const waiting = cloneElement(trigger, {
    onClick: () => setOpened(true),
    onPointerEnter: preload,
    onFocus: preload,
    'aria-haspopup': 'menu',
    'aria-expanded': false,
  });
  if (!opened) return waiting;
  return (
    <Suspense fallback={waiting}>
      <LoadedMenu trigger={trigger} />
    </Suspense>
  );
}
