import { listLoras } from '@bakehouse/contract/loras';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** Pages through a user's LoRAs, newest first; `search` filters by name. */
export const lorasQuery = (userId: string, search = '') =>
  endpointPages(
    ['asset', 'list', userId, 'loras', search],
    listLoras,
    { params: { userId }, query: { search } },
    { rows: 'loras', id: 'id' },
  );
