import { Popover } from '@base-ui/react/popover';
import type { ReactElement } from 'react';
import { cx } from '../../lib/cx.ts';
import type { LongWork } from '../../ui/long-work.ts';
import { LongWorkItem } from '../../ui/long-work-item.tsx';
import { popupClass, popupLayer } from '../../ui/popup-class.ts';

type Props = { trigger: ReactElement; title: string; listed: readonly LongWork[] };

/** The list of long-running tasks with its trigger. */
export function LongWorkPopover({ trigger, title, listed }: Props) {
  return (
    <Popover.Root>
      <Popover.Trigger render={trigger} />
      <Popover.Portal>
        <Popover.Positioner className={popupLayer} sideOffset={6} align="end" collisionPadding={8}>
          <Popover.Popup className={cx(popupClass, 'w-88 max-w-[calc(100vw-1rem)] p-0!')}>
            <Popover.Title className="px-4 pt-3 pb-2 font-medium text-[0.8125rem]">{title}</Popover.Title>
            <ul className="max-h-[60dvh] overflow-y-auto px-4 pb-2">
              {listed.map((work) => (
                <LongWorkItem key={work.id} work={work} />
              ))}
            </ul>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
