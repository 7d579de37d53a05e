import { WifiOff } from 'lucide-react';
import { useOnline } from '../lib/online.ts';

/** Says that nothing is fresh while the server cannot be reached. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div role="status">
      {!online && (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-2 text-center font-medium text-[0.8125rem] text-warn">
          <WifiOff aria-hidden className="size-4 shrink-0" />
          The server cannot be reached. What you see may be out of date.
        </p>
      )}
    </div>
  );
}
