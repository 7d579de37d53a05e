import { listLoras } from '@bakehouse/contract/loras';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** A user's LoRAs page by page, newest first; with `search`, those whose name has it. */
export const lorasQuery = (userId: string, search = '') =>
  endpointPages(
    ['asset', 'list', userId, 'loras', search],
    listLoras,
    { params: { userId }, query: { search } },
    { rows: 'loras', id: 'id' },
  );
