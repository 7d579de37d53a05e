import { Popover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import { popupLayer } from './popup-class.ts';

type Props = { exact: string; className: string; children: ReactNode };

/** A rounded amount. Hover, focus with Enter, or a tap shows the exact one. */
export function ExactAmount({ exact, className, children }: Props) {
  return (
    <Popover.Root>
      <Popover.Trigger openOnHover delay={350} nativeButton={false} render={<span className={className} />}>
        {children}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className={popupLayer} side="top" sideOffset={6} collisionPadding={8}>
          <Popover.Popup
            initialFocus={false}
            className="rounded-md bg-ink px-2 py-1 text-canvas text-xs tabular-nums"
          >
            <Popover.Title className="sr-only">Exact amount</Popover.Title>
            {exact}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
