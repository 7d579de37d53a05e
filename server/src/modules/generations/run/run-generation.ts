import type { Services } from '../../../platform/context.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import { type Lease, renewLease } from '../../../platform/leases/leased-table.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { mediumOf } from '../media-table.ts';
import type { GenerationRow } from '../queries.ts';
import type { ComingOutput, Generated, RunningParts } from './attempt.ts';
import { generateByService } from './generate-by-service.ts';
import { generateHere } from './generate-here.ts';
import { generationsTable } from './generations-table.ts';
import { attemptOf, isFinal } from './plan-generation.ts';
import { reportProgress } from './report-progress.ts';
import { complete, giveBack, writeFailure } from './settle-generation.ts';
import { storeOutput } from './store-output.ts';

/**
 * Makes one attempt at a leased generation, and writes what came of it. Killed anywhere before the last transaction it
 * has changed nothing that counts: the lease runs out, and the picture is generated again.
 */
export async function runGeneration(parts: RunningParts, lease: Lease<GenerationRow>): Promise<void> {
  const { services, closing } = parts;
  try {
    await complete(services, lease, await generateAndStore(parts, lease));
  } catch (error) {
    if (error instanceof LeaseLost) return;
    // A submission that was not confirmed may have been paid: it is not sent again, though the process ends meanwhile.
    const isGivenBack = closing.aborted && !isFinal(error);
    await (isGivenBack ? giveBack(services, lease) : writeFailure(services, lease, error));
  }
}

/** The lease is kept until the picture is stored, however slow the store is. Throws what generating throws. */
async function generateAndStore(parts: RunningParts, lease: Lease<GenerationRow>): Promise<Generated> {
  const { services } = parts;
  const { row } = lease;
  const report = reportProgress(services, lease);
  let counted: Promise<void> | undefined;
  const onCome = () => (counted ??= countAttempt(services, lease));
  const storing = { userId: row.user_id, medium: mediumOf(row.generator), onCome };
  const keep = (output: ComingOutput) => storeOutput(services, output, storing);
  using ended = linkSignals(report.lost, parts.closing);
  const attempt = { lease, report, signal: ended.signal, keep };
  try {
    return await (row.provider === 'own' ? generateHere(parts, attempt) : generateByService(parts, attempt));
  } finally {
    await report.stop();
  }
}

/**
 * Notes that the attempt counts: from here on the picture may be what ends the process. One that ends before, with a model
 * server or a service at work, was ended by something else. Throws LeaseLost.
 */
async function countAttempt({ db, clock }: Services, lease: Lease<GenerationRow>): Promise<void> {
  const values = { attempt: attemptOf(lease) };
  if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values }))) throw new LeaseLost();
}
