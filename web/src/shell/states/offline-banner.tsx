import { WifiOff } from 'lucide-react';
import { cx } from '../../lib/cx.ts';
import { lastAnswer, useOnline } from '../../lib/live/online.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';

/** Warns that the server is unreachable, and shows the age of the data. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div
      role="status"
      className={cx(
        !online && 'strip px-4 py-2 text-center text-compact text-warn [--strip:var(--warn-soft)]',
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
  // Don't announce it every minute.
  return (
    <span aria-live="off">
      Last updated <RelativeTime at={lastAnswer()} inSentence />.
    </span>
  );
}
