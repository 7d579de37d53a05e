import { Popover } from '@base-ui/react/popover';
import { LoaderCircle, TriangleAlert } from 'lucide-react';
import { cx } from '../../lib/cx.ts';
import { countOf } from '../../lib/format/count-of.ts';
import { buttonClass } from '../../ui/button.tsx';
import { LongWorkItem } from '../../ui/long-work-item.tsx';
import { popupClass, popupLayer } from '../../ui/popup-class.ts';
import { useEndToasts } from './use-end-toasts.ts';
import { useLongWork } from './use-long-work.ts';

/** A menu with all running and permanently failed tasks. Hidden if there are none. */
export function LongWorkTray() {
  const work = useLongWork();
  useEndToasts(work);
  const underWay = work.filter(({ end, isUnlisted }) => end === null && !isUnlisted);
  const failed = work.filter(({ end }) => end?.isListed);
  const listed = [...failed, ...underWay];
  if (listed.length === 0) return null;
  const label = [
    underWay.length > 0 && `${countOf(underWay.length, 'task')} in progress`,
    failed.length > 0 && `${failed.length} failed`,
  ];
  return (
    <Popover.Root>
      <Popover.Trigger
        aria-label={label.filter(Boolean).join(', ')}
        className={cx(buttonClass({ variant: 'ghost' }), 'gap-1.5 px-2 tabular-nums max-sm:w-7 max-sm:px-0')}
      >
        {failed.length > 0 ? (
          <TriangleAlert aria-hidden className="size-4 text-bad" />
        ) : (
          <LoaderCircle aria-hidden className="size-4 animate-spin text-accent-text" />
        )}
        {/* Phones have no room for the count; the list shows the same number of rows. */}
        <span className="max-sm:hidden">{listed.length}</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className={popupLayer} sideOffset={6} align="end" collisionPadding={8}>
          <Popover.Popup className={cx(popupClass, 'w-88 max-w-[calc(100vw-1rem)] p-0!')}>
            <Popover.Title className="px-4 pt-3 pb-2 font-medium text-compact">
              {underWay.length > 0 ? 'In progress' : 'Failed'}
            </Popover.Title>
            <ul className="max-h-[60dvh] overflow-y-auto px-4 pb-2">
              {listed.map((one) => (
                <LongWorkItem key={one.id} work={one} />
              ))}
            </ul>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
