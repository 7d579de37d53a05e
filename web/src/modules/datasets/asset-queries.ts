import { type DatasetType, getAsset, listAssets } from '@bakehouse/contract/assets';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { assetReadLimits } from '../../lib/api/asset-read-limits.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';

const PAGE_LENGTH = 50;
const NOBODY = 'Missing required parameters: userId or apiKey';

type AssetFilter = {
  types: DatasetType;
  search?: string | undefined;
  tag?: string | undefined;
  sort?: 'updated' | 'title' | 'size';
  /** Includes readable assets of other users. Defaults to the user's own. */
  whose?: 'own' | 'shared' | 'published' | 'all';
  /** Adds starter assets, and the pipeline of each model. */
  include?: { include_starter?: 'true'; include_pipelines?: 'true' };
};

/** Pages through datasets or models, newest first by default. */
export const assetListQuery = (
  userId: string,
  { types, search = '', tag, sort = 'updated', whose = 'own', include }: AssetFilter,
) =>
  pagedQuery({
    queryKey: ['asset', 'list', userId, { types, search, tag, sort, whose, include }],
    rows: 'datasets',
    id: 'dataset_id',
    newestFirst: !search && !tag && sort === 'updated',
    read: async (cursor, signal) => {
      if (!userId) throw new ApiError(NOBODY, { status: 0, code: 'no_key' });
      return call(
        listAssets,
        {
          query: {
            types,
            owner: userId,
            search,
            tag,
            sort,
            whose,
            ...include,
            limit: PAGE_LENGTH,
            cursor,
          },
        },
        {
          signal,
          ...assetReadLimits(),
          noKey: NOBODY,
          operation: types === 'RAW' ? 'fetch datasets' : 'fetch models',
        },
      );
    },
  });

export const assetQuery = (id: string) =>
  endpointQuery(['asset', 'one', id], getAsset, { params: { id } }, { call: assetReadLimits() });
