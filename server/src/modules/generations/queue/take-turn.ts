import type { Provider } from '@bakehouse/contract/generators';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { claimRow, type Lease } from '../../../platform/leases/leased-table.ts';
import { announceGeneration } from '../announce-generation.ts';
import { endGeneration } from '../end-generation.ts';
import { deletePreview, type GenerationRow, noteTurn, updateGeneration } from '../queries.ts';
import { generationsTable } from '../run/generations-table.ts';
import { planTurn } from '../run/plan-generation.ts';
import { begun } from '../run/progress.ts';
import { progressColumns } from '../run/report-progress.ts';
import { cancelJob } from '../services/service-job.ts';
import { chooseNext } from './choose-next.ts';

/** A leased generation to run, or a generation that was ended instead. */
export type Turn = { lease: Lease<GenerationRow> } | { ended: GenerationRow };

/**
 * Leases the generation to run next, within `places` per queue of each provider. Skips those that this
 * process is already running, even if their leases expired during a database outage. Null if none is ready.
 */
export async function takeTurn(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'log'>,
  places: Record<Provider, number>,
  atWork: readonly string[] = [],
): Promise<Turn | null> {
  const { db, clock } = services;
  const turn = await inTransaction(db, async (tx): Promise<Turn | null> => {
    const now = clock.now();
    const id = await chooseNext(tx, { places, now, atWork });
    const lease = id === null ? null : await claimRow(tx, generationsTable, id, now);
    if (!lease) return null;
    const { row } = lease;
    const step = planTurn(row, now);
    if (step.do === 'fail') {
      await endGeneration(tx, row, { state: 'failed', reason: step.reason, chargedMicro: 0n, now });
      return { ended: row };
    }
    const startedAt = row.started_at ?? now;
    await updateGeneration(tx, row.id, { ...progressColumns(begun), started_at: startedAt });
    await deletePreview(tx, row.id);
    if (row.started_at === null) await noteTurn(tx, row, now);
    await announceGeneration(tx, row, { queueMoved: true });
    return { lease };
  });
  // Cancel a job that an earlier attempt started at a service.
  if (turn && 'ended' in turn) void cancelJob(services, turn.ended);
  return turn;
}
