import { listLoras } from '@bakehouse/contract/assets';
import { call } from '../../../lib/api/api-client.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';

/** A user's LoRAs page by page, newest first; with `search`, those whose name has it. */
export const lorasQuery = (userId: string, search = '') =>
  pagedQuery({
    // With the other lists of models: what is uploaded or deleted shows here too.
    queryKey: ['asset', 'list', userId, 'loras', search],
    rows: 'loras',
    id: 'id',
    read: (cursor, signal) =>
      call(
        listLoras,
        { params: { userId }, query: { search, cursor } },
        { signal, operation: 'fetch your LoRAs' },
      ),
  });
