import { formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../../platform/context.ts';
import { type ClosedWindow, closeWindowRow } from './usage-queries.ts';

/** Closes a window for its leader, or for any process after its lease; logs uncharged usage. */
export async function closeWindow(
  services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>,
  { windowId, leaderId }: { windowId: string; leaderId: string | null },
): Promise<ClosedWindow> {
  const closed = await closeWindowRow(services, { windowId, leaderId, at: services.clock.now() });
  if (closed.uncharged > 0n) {
    services.log.error(
      { window_id: windowId, outcome: closed.outcome, uncharged: formatBgl(closed.uncharged) },
      'usage exceeded the hold of its window; the excess is not charged',
    );
  }
  return closed;
}
