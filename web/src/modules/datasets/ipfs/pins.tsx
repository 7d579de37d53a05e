import type { IpfsRevision, PinServiceName } from '@bakehouse/contract/ipfs';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';

const names: Record<PinServiceName, string> = { kubo: 'IPFS node', pinning_service: 'Pinning service' };

/** Pins of a version: service, state, reason and last check. */
export function Pins({ pins }: Pick<IpfsRevision, 'pins'>) {
  return (
    <ul className="flex flex-col gap-1.5 py-1">
      {pins.map(({ service, state, reason, checked_at }) => (
        <li key={service} className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-compact">
          <StatusBadge status={state} />
          <span>{names[service]}</span>
          <span className="text-muted">
            {reason}
            {reason && checked_at && ' · '}
            {checked_at && (
              <>
                checked <RelativeTime at={checked_at} inSentence />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
