import { cloneElement, type ReactElement, Suspense, useState } from 'react';
import type { Loadable } from '../../lib/loadable.tsx';
import { Boundary, type Broken, useRetry } from '../../ui/boundary.tsx';

type TriggerProps = {
  onClick?: () => void;
  onPointerEnter?: () => void;
  onFocus?: () => void;
  'aria-haspopup'?: 'menu';
  'aria-expanded'?: boolean;
};

type Props = {
  trigger: ReactElement<TriggerProps>;
  /** The menu; it opens as soon as its code is there. */
  menu: Loadable<{ trigger: ReactElement }>;
};

/** A menu button whose menu is loaded when the pointer or the focus comes near, which keeps it out of the first screen. */
export function DeferredMenu({ trigger, menu: Menu }: Props) {
  const [opened, setOpened] = useState(false);
  const waiting = cloneElement(trigger, {
    onClick: () => setOpened(true),
    onPointerEnter: () => void Menu.preload(),
    onFocus: () => void Menu.preload(),
    'aria-haspopup': 'menu',
    'aria-expanded': false,
  });
  if (!opened) return waiting;
  return (
    <Boundary fallback={(broken: Broken) => <Unavailable {...broken} trigger={trigger} />}>
      <Suspense fallback={waiting}>
        <Menu trigger={trigger} />
      </Suspense>
    </Boundary>
  );
}

/** The button alone, whose click tries to fetch its menu again. */
function Unavailable({ trigger, ...broken }: Broken & Pick<Props, 'trigger'>) {
  return cloneElement(trigger, { onClick: useRetry(broken) });
}
