import { WifiOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { relativeTime } from '../lib/format-time.ts';
import { lastAnswer, useOnline } from '../lib/online.ts';

const TICK_MS = 10_000;

/** Says that nothing is fresh while the server cannot be reached, and how old it is. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div
      className={
        online
          ? undefined
          : 'strip px-4 py-2 text-center text-[0.8125rem] text-warn [--strip:var(--warn-soft)]'
      }
    >
      {/* The age is beside what is announced, which would else be announced every minute. */}
      <span role="status" className="font-medium">
        {!online && (
          <>
            <WifiOff aria-hidden className="mr-2 inline size-4 align-text-bottom" />
            The server cannot be reached. Trying again …
          </>
        )}
      </span>
      {!online && <Age />}
    </div>
  );
}

function Age() {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <span> Last updated {relativeTime(lastAnswer(), now).toLowerCase()}.</span>;
}
