import { batch } from '../../../platform/concurrency/batch.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { type ChatRequest, insertChatRequests } from '../gateway-queries.ts';

/** Requests in one transaction at most. */
const MAX = 200;

/** Inserts one request, in a batch with others that end at the same time. */
export type KeepRequest = (request: ChatRequest) => Promise<void>;

/** Returns a function that inserts requests in batches. */
export function keepRequests({ db }: Pick<Services, 'db'>): KeepRequest {
  return batch<ChatRequest, void>(
    async (requests) => {
      // One statement needs none: to begin and to commit would cost more than it does.
      const isOneStatement = requests.every(({ podId }) => podId === null);
      await (isOneStatement
        ? insertChatRequests(db, requests)
        : inTransaction(db, (tx) => insertChatRequests(tx, requests)));
      return requests.map(() => undefined);
    },
    { max: MAX },
  );
}
