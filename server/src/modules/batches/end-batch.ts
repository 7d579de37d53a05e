import { Readable } from 'node:stream';
import type { Services } from '../../platform/context.ts';
import { LeaseLost } from '../../platform/leases/hold-lease.ts';
import type { Lease } from '../../platform/leases/leased-table.ts';
import { underLease } from '../../platform/leases/under-lease.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { keepFile } from '../datasets/openai-files/keep-file.ts';
import { type BatchRow, batchesTable } from './batches-table.ts';
import { chargeAnswers } from './hold-for-answers.ts';
import { noteEnd, selectAnswers, selectOpenRequests } from './queries.ts';

const PAGE = 200;

/** Writes the files of a leased batch, charges what its answers have cost, and lets go of the rest of its hold: in one transaction. */
export async function endBatch(services: Services, lease: Lease<BatchRow>, batch: BatchRow): Promise<void> {
  const { id } = batch;
  const { db, clock } = services;
  const output = await storeLines(services, answersOf(services, { id, isError: false }));
  const errors = await storeLines(services, errorsOf(services, batch));
  const ended = await underLease(db, batchesTable, lease, async (tx, row) => {
    const keep = (blob: Blob | null, name: string) =>
      blob &&
      keepFile(
        tx,
        { userId: row.user_id, path: `${row.id}_${name}.jsonl`, blob, purpose: 'batch_output' },
        null,
      );
    await noteEnd(tx, id, {
      output_asset_id: await keep(output, 'output'),
      error_asset_id: await keep(errors, 'error'),
      outcome: outcomeOf(row),
      ended_at: clock.now(),
    });
    await chargeAnswers(tx, row);
    return true;
  });
  if (!ended) throw new LeaseLost();
}

function outcomeOf({ completed, failed, total, cancelled_at: cancelledAt }: BatchRow): BatchRow['outcome'] {
  if (completed + failed === total) return 'completed';
  return cancelledAt ? 'cancelled' : 'expired';
}

type Lines = AsyncGenerator<object>;

async function* answersOf({ db }: Services, { id, isError }: { id: string; isError: boolean }): Lines {
  for (let after = 0; ; ) {
    const page = await selectAnswers(db, { id, isError, after, limit: PAGE });
    yield* page.map(({ answer }) => answer);
    if (page.length < PAGE) return;
    after = page.at(-1)?.number ?? after;
  }
}

/** What was refused, and what the day did not suffice for. */
async function* errorsOf(services: Services, batch: BatchRow): Lines {
  const { id, total, cancelled_at: cancelledAt, expires_at: expiresAt } = batch;
  yield* answersOf(services, { id, isError: true });
  if (cancelledAt || expiresAt > services.clock.now()) return;
  const message = 'The request was not answered before the batch expired';
  for (const { customId, number } of await selectOpenRequests(services.db, id, total)) {
    yield {
      ...{ id: `batch_req_${id.replaceAll('-', '')}_${number}`, custom_id: customId, response: null },
      error: { code: 'batch_expired', message },
    };
  }
}

/** Null where there are none. */
async function storeLines(services: Services, lines: Lines): Promise<Blob | null> {
  const first = await lines.next();
  if (first.done) return null;
  const text = async function* () {
    yield `${JSON.stringify(first.value)}\n`;
    for await (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  return storeBlob(services, Readable.from(text(), { objectMode: false }));
}
