import type { Provider } from '@bakehouse/contract/generators';
import type { Services } from '../../../platform/context.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import { createLeaseLoop, type LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { type Lease, renewLease } from '../../../platform/leases/leased-table.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { QUEUE_MOVED } from '../announce-generation.ts';
import { mediumOf } from '../media-table.ts';
import type { GenerationRow } from '../queries.ts';
import { leaseNext } from '../queue/queue.ts';
import type { ComingOutput, Generated, RunningParts } from './attempt.ts';
import { generateByService } from './generate-by-service.ts';
import { generateHere } from './generate-here.ts';
import { generationsTable } from './generations-table.ts';
import { attemptOf, isFinal } from './plan-generation.ts';
import { reportProgress } from './progress.ts';
import { complete, requeueGeneration, writeFailure } from './settle-generation.ts';
import { storeOutput } from './store-output.ts';

/**
 * Runs one attempt of a leased generation and persists the result. Crash-safe until the final transaction:
 * the lease expires and the picture is generated again.
 */
export async function runGeneration(parts: RunningParts, lease: Lease<GenerationRow>): Promise<void> {
  const { services, closing } = parts;
  try {
    await complete(services, lease, await generateAndStore(parts, lease));
  } catch (error) {
    if (error instanceof LeaseLost) return;
    // A submission without an answer may have been charged. Do not repeat it, even on shutdown.
    const isGivenBack = closing.aborted && !isFinal(error);
    await (isGivenBack ? requeueGeneration(services, lease) : writeFailure(services, lease, error));
  }
}

/**
 * Generates and stores the outputs. Renews the lease until then, however long the store takes. Throws the
 * errors of the generation.
 */
async function generateAndStore(parts: RunningParts, lease: Lease<GenerationRow>): Promise<Generated> {
  const { services } = parts;
  const { row } = lease;
  const report = reportProgress(services, lease);
  let counted: Promise<void> | undefined;
  const onReceived = () => (counted ??= countAttempt(services, lease));
  const storing = { userId: row.user_id, medium: mediumOf(row.generator), onReceived };
  const saveOutput = (output: ComingOutput) => storeOutput(services, output, storing);
  using ended = linkSignals(report.lost, parts.closing);
  const attempt = { lease, report, signal: ended.signal, keep: saveOutput };
  try {
    return await (row.provider === 'own' ? generateHere(parts, attempt) : generateByService(parts, attempt));
  } finally {
    await report.stop();
  }
}

/**
 * Counts the attempt before the output is inspected, because a crafted file may crash this process. An
 * earlier crash has another cause and does not count. Throws LeaseLost.
 */
async function countAttempt({ db, clock }: Services, lease: Lease<GenerationRow>): Promise<void> {
  const values = { attempt: attemptOf(lease) };
  if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values }))) throw new LeaseLost();
}

/**
 * Creates the loop that runs queued generations. `places` is the limit per queue of a provider, over all
 * processes.
 */
export function createGenerationLoop({
  services,
  serving,
  places,
  ...pace
}: Omit<RunningParts, 'closing'> & { places: Record<Provider, number>; pollMs?: number }): LeaseLoop {
  return createLeaseLoop(services, {
    name: 'generations',
    ...pace,
    wakeOn: QUEUE_MOVED,
    claim: async (running) => {
      for (;;) {
        const turn = await leaseNext(services, places, running);
        if (turn === null) return null;
        // The generation ended instead, e.g. it had waited for too long. Lease the next one.
        if ('ended' in turn) continue;
        const { lease } = turn;
        return { id: lease.id, run: (closing) => runGeneration({ services, serving, closing }, lease) };
      }
    },
  });
}
