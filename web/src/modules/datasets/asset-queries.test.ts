import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { assetListQuery } from './asset-queries.ts';

afterEach(() => vi.unstubAllGlobals());

test('lists datasets and models only with a user and a key', async () => {
  const fetched = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', fetched);
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  const read = (userId: string) => queryClient.fetchInfiniteQuery(assetListQuery(userId, { types: 'RAW' }));
  await expect(read('')).rejects.toThrow('Missing required parameters: userId or apiKey');
  setCredentials(null);
  await expect(read('u1')).rejects.toThrow('Missing required parameters: userId or apiKey');
  expect(fetched).not.toHaveBeenCalled();
});
