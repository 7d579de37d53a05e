import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';
import { popupLayer } from './popup-class.ts';

type Props = { content: ReactNode; side?: 'top' | 'right'; children: ReactElement };

/** A short hint on hover and focus. Never the only place for information; the child needs its own label. */
export function Tooltip({ content, side = 'top', children }: Props) {
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={350} />
      <Base.Portal>
        <Base.Positioner className={popupLayer} side={side} sideOffset={6} collisionPadding={8}>
          <Base.Popup className="max-w-72 rounded-md bg-ink px-2 py-1 text-canvas text-xs transition-opacity duration-100 data-starting-style:opacity-0 data-ending-style:opacity-0">
            {content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
