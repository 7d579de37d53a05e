import { batch } from '../../../../platform/batch.ts';
import type { Services } from '../../../../platform/context.ts';
import { type ChatRequest, insertChatRequests } from '../gateway-queries.ts';

/** Requests in one statement at most. */
const MAX = 200;

/** Keeps one request, with others that end at the same time. */
export type KeepRequest = (request: ChatRequest) => Promise<void>;

/** Makes the way by which requests are kept. */
export function keepRequests(services: Pick<Services, 'db' | 'pool'>): KeepRequest {
  return batch<ChatRequest, void>(
    async (requests) => {
      await insertChatRequests(services, requests);
      return requests.map(() => undefined);
    },
    { max: MAX },
  );
}
