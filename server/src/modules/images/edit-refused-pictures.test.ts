import { beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { findStoredBytes } from '../../platform/storage/owner-queries.ts';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { withdrawCredits } from '../billing/ledger/given-credits.ts';
import { deleteUnusedPicturesJob } from '../generations/jobs/delete-unused-pictures.ts';
import { pictureFiles } from '../generations/testing/picture-files.ts';

/* Stored bytes of a picture whose edit is rejected. */

const setting = await testGenerations({ generates: false });
const { server, clock } = setting;
const { db } = server.services;

let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp('Ada');
});

const edit = async (file: Buffer) => {
  const body = new FormData();
  body.append('prompt', 'Make it blue');
  body.append('file', new Blob([new Uint8Array(file)]), 'bread.png');
  const headers = { 'x-api-key': ada.apiKey };
  const answer = await fetch(`${server.url}/v1/starters/kontext-starter/edit`, {
    method: 'POST',
    body,
    headers,
  });
  await answer.body?.cancel();
  return answer.status;
};
const countBlobs = async () => (await db.selectFrom('blobs').select('sha256').execute()).length;
const stored = async () => Number(await findStoredBytes(db, ada.userId));

test('does not store a picture beyond the limit of open pictures', async () => {
  for (let open = 0; open < 8; open += 1) await setting.generate(ada);
  const before = await countBlobs();
  expect(await edit(pictureFiles.png)).toBe(429);
  expect([await countBlobs(), await stored()]).toEqual([before, 0]);
});

test('counts a picture whose edit is rejected after storing towards the quota, for a day', async () => {
  await inTransaction(db, (tx) => withdrawCredits(tx, ada.userId));
  expect(await edit(pictureFiles.png)).toBe(402);
  const once = await stored();
  expect(once).toBeGreaterThanOrEqual(pictureFiles.png.length);
  expect(await edit(pictureFiles.png)).toBe(402);
  expect(await stored()).toBe(once);
  expect(await edit(pictureFiles.jpeg)).toBe(402);
  expect(await stored()).toBeGreaterThanOrEqual(once + pictureFiles.jpeg.length);
  clock.advance({ hours: 25 });
  await deleteUnusedPicturesJob.run(server.services, {}, new AbortController().signal);
  expect(await stored()).toBe(0);
});
