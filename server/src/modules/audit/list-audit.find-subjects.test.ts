import { randomUUID } from 'node:crypto';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { createAsset, deleteAsset, updateAsset } from '@bakehouse/contract/assets';
import { listAudit } from '@bakehouse/contract/audit';
import { grantCredits } from '@bakehouse/contract/credits';
import { expect, test } from 'vitest';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';

test('an entry shows the current names of its ids, and nothing of deleted ones', async () => {
  const server = await testServer();
  const { request, services, signUp } = server;
  const [olga, ada, bob] = [await signUpOperator(server), await signUp('Ada'), await signUp('Bob')];
  const entryOf = async (action: string, by: TestUser = ada) => {
    const { entries } = await request(listAudit, { query: { user: by.userId } }, { as: olga });
    return entries.find((entry) => entry.action === action);
  };

  const key = { params: { userId: ada.userId }, body: { name: 'program' } };
  const { api_key } = await request(createApiKey, key, { as: ada });
  expect((await entryOf('api_key.created'))?.names).toEqual({ [api_key.id]: 'program' });

  const asset = { dataset_type: 'RAW', title: 'rye', user_id: ada.userId } as const;
  const id = await request(createAsset, { body: asset }, { as: ada });
  await request(updateAsset, { params: { id }, body: { title: 'Rye' } }, { as: ada });
  expect((await entryOf('asset.changed'))?.names).toEqual({ [id]: 'Rye' });
  await request(deleteAsset, { params: { id } }, { as: ada });
  expect((await entryOf('asset.changed'))?.names).toEqual({});
  expect(await entryOf('asset.deleted')).toMatchObject({ detail: { asset_id: id, title: 'Rye' }, names: {} });

  const body = { recipient_id: bob.userId, amount: '2' };
  await request(grantCredits, { body }, { as: olga, idempotencyKey: randomUUID() });
  expect((await entryOf('credits.granted', olga))?.names).toEqual({
    [bob.userId]: expect.stringMatching(/^bob/),
  });
  await services.db
    .updateTable('users')
    .set({ deleted_at: new Date() })
    .where('id', '=', bob.userId)
    .execute();
  expect((await entryOf('credits.granted', olga))?.names).toEqual({});
});
