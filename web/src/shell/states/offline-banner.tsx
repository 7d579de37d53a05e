import { WifiOff } from 'lucide-react';
import { cx } from '../../lib/cx.ts';
import { relativeTime } from '../../lib/format/format-time.ts';
import { lastAnswer, useOnline } from '../../lib/live/online.ts';
import { useNow } from '../../lib/use-now.ts';

const TICK_MS = 10_000;

/** Says that nothing is fresh while the server cannot be reached, and how old it is. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div
      role="status"
      className={cx(
        !online && 'strip px-4 py-2 text-center text-[0.8125rem] text-warn [--strip:var(--warn-soft)]',
      )}
    >
      {!online && (
        <>
          <WifiOff aria-hidden className="mr-2 inline size-4 align-text-bottom" />
          <span className="font-medium">The server cannot be reached. Trying again…</span> <Age />
        </>
      )}
    </div>
  );
}

function Age() {
  const now = useNow(TICK_MS);
  // Not announced anew every minute.
  return <span aria-live="off">Last updated {relativeTime(lastAnswer(), now).toLowerCase()}.</span>;
}
