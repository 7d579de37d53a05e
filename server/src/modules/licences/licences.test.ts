import { acceptLicence, licences, listLicences } from '@bakehouse/contract/licences';
import { expect, test } from 'vitest';
import { testServer } from '../../testing/test-server.ts';

const server = await testServer();
const LICENCE = 'flux-1-dev-non-commercial';
const { version, title } = licences[LICENCE];

test('each user accepts the version of a licence that they read, once', async () => {
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  const list = async (as: typeof ada) => (await server.request(listLicences, {}, { as })).licences;
  const accept = (body: object) =>
    server.request(
      acceptLicence,
      { body: { user_id: ada.userId, licence: LICENCE, version, ...body } },
      { as: ada },
    );
  expect(await list(ada)).toMatchObject([{ licence: LICENCE, title, version, accepted_at: null }]);

  await expect(accept({ version: '0.9' })).rejects.toMatchObject({
    status: 409,
    body: { error: { code: 'conflict', param: 'version', message: expect.stringContaining(version) } },
  });
  await expect(accept({ licence: 'mit' })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'licence', message: `licence must be one of ${LICENCE}` } },
  });
  expect(await list(ada)).toMatchObject([{ accepted_at: null }]);

  const accepted = await accept({});
  expect(accepted.accepted_at).toEqual(expect.any(String));
  expect(await accept({})).toEqual(accepted);
  expect(await list(ada)).toEqual([accepted]);
  expect(await list(bob)).toMatchObject([{ accepted_at: null }]);

  const { db } = server.services;
  const audited = await db
    .selectFrom('audit_log')
    .select(['user_id', 'detail'])
    .where('action', '=', 'licence.accepted')
    .execute();
  expect(audited).toEqual([{ user_id: ada.userId, detail: { licence: LICENCE, version } }]);
});
