import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { assetListQuery } from './asset-queries.ts';

afterEach(() => vi.unstubAllGlobals());

test('datasets and models are asked for with a user and a key, or not at all', async () => {
  const fetched = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', fetched);
  const sentence = 'Missing required parameters: userId or apiKey';
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  await expect(queryClient.fetchInfiniteQuery(assetListQuery('', { types: 'RAW' }))).rejects.toThrow(
    sentence,
  );
  setCredentials(null);
  await expect(queryClient.fetchInfiniteQuery(assetListQuery('u1', { types: 'MODEL' }))).rejects.toThrow(
    sentence,
  );
  expect(fetched).not.toHaveBeenCalled();
});
