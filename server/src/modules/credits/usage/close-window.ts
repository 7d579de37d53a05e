import { formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../../platform/context.ts';
import { type ClosedWindow, closeWindowRow } from './usage-queries.ts';

/** Closes a window, for its leader or, without one, for whoever leads no more; says what could not be charged. */
export async function closeWindow(
  services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>,
  { windowId, leaderId }: { windowId: string; leaderId: string | null },
): Promise<ClosedWindow> {
  const closed = await closeWindowRow(services, { windowId, leaderId, at: services.clock.now() });
  if (closed.uncharged > 0n) {
    services.log.error(
      { window_id: windowId, outcome: closed.outcome, uncharged: formatBgl(closed.uncharged) },
      'what was used in a usage window is more than its hold still had, and is not charged',
    );
  }
  return closed;
}
