import { updateAsset } from '@bakehouse/contract/assets';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { deleteAccount } from '@bakehouse/contract/privacy';
import { expect, test } from 'vitest';
import { password } from '../../testing/auth-client.ts';
import { testGenerations } from '../../testing/test-generations.ts';
import { verifyLedger } from '../billing/verification/verify-ledger.ts';
import { insertFlux } from '../deployments/testing/test-models.ts';

const { server, balance } = await testGenerations();
const { db } = server.services;

test("ends and settles other users' deployments of a deleted user's model, so the purge continues", async () => {
  const [hal, ida] = [await server.signUp('Hal'), await server.signUp('Ida')];
  const { assetId } = await insertFlux(server.services, hal, 'Painter of Hal');
  const published = { params: { id: assetId }, body: { is_published: true } };
  await server.request(updateAsset, published, { as: hal });
  const body = { model_id: assetId, user_id: ida.userId };
  const { pod_id: podId } = await server.request(imageCalls.flux.deploy, { body }, { as: ida });
  expect((await balance(ida)).held).toBeGreaterThan(0n);
  await server.request(deleteAccount, { body: { password } }, { headers: { cookie: hal.cookie } });

  // Purged by the server's own job.
  const left = () => db.selectFrom('assets').select('id').where('id', '=', assetId).execute();
  await expect.poll(left).toEqual([]);
  const ended = await server.request(getImageDeployment, { params: { podId } }, { as: ida });
  expect(ended).toMatchObject({ reason: 'The owner of the model deleted their account' });
  expect((await balance(ida)).held).toBe(0n);
  expect(await verifyLedger(db)).toMatchObject({ ok: true });
});
