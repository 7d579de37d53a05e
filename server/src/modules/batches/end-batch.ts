import { Readable } from 'node:stream';
import type { Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { keepFile } from '../datasets/openai-files/keep-file.ts';
import type { BatchRow } from './batches-table.ts';
import { noteEnd, selectAnswers, selectOpenRequests } from './queries.ts';

const PAGE = 200;

type Outcome = NonNullable<BatchRow['outcome']>;

/** Stores the files of a batch that ends; returns the step that records the end. */
export async function prepareEnd(
  services: Services,
  batch: BatchRow,
  outcome: Outcome,
): Promise<(tx: Transaction, endedAt: Date) => Promise<void>> {
  const { id, user_id: userId } = batch;
  const output = await storeLines(services, answersOf(services, { id, isError: false }));
  const errors = await storeLines(services, errorsOf(services, batch, outcome));
  return async (tx, endedAt) => {
    const keep = (blob: Blob | null, name: string) =>
      blob && keepFile(tx, { userId, path: `${id}_${name}.jsonl`, blob, purpose: 'batch_output' }, null);
    await noteEnd(tx, id, {
      output_asset_id: await keep(output, 'output'),
      error_asset_id: await keep(errors, 'error'),
      ...{ outcome, ended_at: endedAt },
    });
  };
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

/** Yields rejected requests, and requests that expired. */
async function* errorsOf(services: Services, { id, total }: BatchRow, outcome: Outcome): Lines {
  yield* answersOf(services, { id, isError: true });
  if (outcome !== 'expired') return;
  const message = 'The request was not answered before the batch expired';
  for (const { customId, number } of await selectOpenRequests(services.db, id, total)) {
    yield {
      ...{ id: `batch_req_${id.replaceAll('-', '')}_${number}`, custom_id: customId, response: null },
      error: { code: 'batch_expired', message },
    };
  }
}

/** Returns null if there are no lines. */
async function storeLines(services: Services, lines: Lines): Promise<Blob | null> {
  const first = await lines.next();
  if (first.done) return null;
  const text = async function* () {
    yield `${JSON.stringify(first.value)}\n`;
    for await (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  return storeBlob(services, Readable.from(text(), { objectMode: false }));
}
