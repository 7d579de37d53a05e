import { batch } from '../../../platform/concurrency/batch.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { type ChatRequest, insertChatRequests } from '../gateway-queries.ts';

/** Maximum requests per transaction. */
const MAX = 200;

/** Inserts a request, batched with others that end at the same time. */
export type RecordChatRequest = (request: ChatRequest) => Promise<void>;

/** Returns a function that inserts requests in batches. */
export function batchRequestInserts({ db }: Pick<Services, 'db'>): RecordChatRequest {
  return batch<ChatRequest, void>(
    async (requests) => {
      // Without totals there is one statement, which needs no transaction. BEGIN and COMMIT would cost more
      // than the statement.
      const isOneStatement = requests.every(({ podId }) => podId === null);
      await (isOneStatement
        ? insertChatRequests(db, requests)
        : inTransaction(db, (tx) => insertChatRequests(tx, requests)));
      return requests.map(() => undefined);
    },
    { max: MAX },
  );
}
