import { Readable } from 'node:stream';
import { listModels } from '@bakehouse/contract/chat';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import {
  deleteGeneration,
  listGenerations,
  quoteGeneration,
  startGeneration,
} from '@bakehouse/contract/generations';
import { listGenerators } from '@bakehouse/contract/generators';
import { deleteKontextImage, listKontextImages } from '@bakehouse/contract/kontext';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { lockStoredBytes } from '../../platform/storage/owner-queries.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { withdrawCredits } from '../billing/ledger/given-credits.ts';
import { insertFlux } from '../deployments/testing/test-models.ts';
import { deleteUnusedPicturesJob } from '../generations/jobs/delete-unused-pictures.ts';
import { pictureFiles, pngOf } from '../generations/testing/picture-files.ts';

const setting = await testGenerations();
const { server, stub, clock } = setting;
const { db } = server.services;

let ada: TestUser;
beforeEach(async () => {
  stub.startAnew();
  ada = await server.signUp('Ada');
});

const send = async (path: string, body: FormData | URLSearchParams, as: TestUser = ada) => {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    body,
    headers: { 'x-api-key': as.apiKey },
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
};
const form = (file: Buffer, fields: Record<string, string> = {}, part = 'file') => {
  const body = new FormData();
  body.append(part, new Blob([new Uint8Array(file)]), 'bread.png');
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
};
const upload = async (file: Buffer, as: TestUser = ada) => {
  const { status, json } = await send('/api/v1/pictures', form(file), as);
  expect(status, JSON.stringify(json)).toBe(201);
  return json as { id: string; url: string; width: number };
};
const start = (
  as: TestUser,
  source: { picture_id?: string; source_generation_id?: string; source_output_id?: string },
  idempotencyKey?: string,
) =>
  server.request(
    startGeneration,
    {
      body: {
        generator: 'flux-kontext' as const,
        prompt: 'Make it blue',
        parameters: { num_inference_steps: 10 },
        ...source,
      },
    },
    { as, idempotencyKey },
  );
const list = async (as: TestUser, query = {}) =>
  (await server.request(listGenerations, { params: { userId: as.userId }, query }, { as })).generations;
const pictures = () =>
  db.selectFrom('input_pictures').select('generation_id').where('user_id', '=', ada.userId).execute();
/** True if a transaction waits for a lock. */
const isWaiting = async () => {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
};
const address = '/v1/starters/kontext-starter';

describe('an edit', () => {
  test('of an uploaded picture is quoted, held, generated and charged once', async () => {
    const before = await setting.balance(ada);
    const { id: picture_id, url, width } = await upload(pictureFiles.jpeg);
    expect(width).toBe(6);
    expect((await fetch(new URL(url, server.url))).headers.get('content-type')).toBe('image/jpeg');
    const parameters = { num_inference_steps: 10 };
    const quote = { body: { generator: 'flux-kontext' as const, parameters } };
    const { cost } = await server.request(quoteGeneration, quote, { as: ada });
    expect(cost).toBe('0.05');

    const { id } = await start(ada, { picture_id });
    expect((await setting.balance(ada)).held).toBe(50_000n);
    const done = await setting.until(ada, id, 'completed');
    expect(done).toMatchObject({
      ...{ generator: 'flux-kontext', model: 'kontext-starter', cost, root_id: id, step: 10 },
      ...{ expert_weights: null, expert_used: null, routing_confidence: null },
      source: { generation_id: null, media_type: 'image/jpeg', width: 6, height: 4 },
      parameters: { guidance_scale: 2.5, num_inference_steps: 10, seed: done.seed },
    });
    const source = await fetch(new URL(done.source?.url ?? '', server.url));
    expect(Buffer.from(await source.arrayBuffer())).toEqual(pictureFiles.jpeg);
    expect(stub.requests).toMatchObject([
      { prompt: 'Make it blue', steps: 10, guidance: 2.5, picture: pictureFiles.jpeg.toString('base64') },
    ]);
    expect(await setting.balance(ada)).toEqual({ balance: before.balance - 50_000n, held: 0n });
  });

  test("of a generation's output is linked to that generation, and survives its deletion", async () => {
    const first = await setting.generate(ada);
    await setting.until(ada, first.id, 'completed');
    const second = await start(ada, { source_generation_id: first.id });
    await setting.until(ada, second.id, 'completed');
    const third = await start(ada, { source_generation_id: second.id });
    const done = await setting.until(ada, third.id, 'completed');
    expect(done).toMatchObject({ root_id: first.id, source: { generation_id: second.id } });
    await setting.generate(ada);
    const tree = async () =>
      (await list(ada, { root: first.id })).map(({ id, source }) => [id, source?.generation_id ?? null]);
    expect(await tree()).toEqual([
      [third.id, second.id],
      [second.id, first.id],
      [first.id, null],
    ]);
    await server.request(deleteGeneration, { params: { id: second.id } }, { as: ada });
    expect(await tree()).toEqual([
      [third.id, null],
      [first.id, null],
    ]);
    const [left] = await list(ada, { root: first.id });
    expect((await fetch(new URL(left?.source?.url ?? '', server.url))).status).toBe(200);
  });

  test('uses the output that the request names, or else the first output', async () => {
    const { id } = await setting.generate(ada);
    const [first] = (await setting.until(ada, id, 'completed')).outputs;
    const { sha256, sizeBytes } = await storeBlob(server.services, Readable.from([pictureFiles.jpeg]));
    const { id: secondId } = await db
      .insertInto('generation_outputs')
      .values({
        ...{ generation_id: id, user_id: ada.userId, sha256, size_bytes: BigInt(sizeBytes) },
        ...{ media_type: 'image/jpeg', width: 6, height: 4 },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const source = { source_generation_id: id };
    const edit = await start(ada, { ...source, source_output_id: secondId });
    expect(edit.source).toMatchObject({ generation_id: id, output_id: secondId, media_type: 'image/jpeg' });
    await setting.until(ada, edit.id, 'completed');
    expect(stub.requests.at(-1)).toMatchObject({ picture: pictureFiles.jpeg.toString('base64') });
    expect((await start(ada, source)).source).toMatchObject({ generation_id: id, output_id: first?.id });

    const other = await setting.generate(ada);
    const refusal = (named: object) =>
      start(ada, named).catch(({ status, body }) => [status, body.error.param]);
    const foreign = { source_generation_id: other.id, source_output_id: secondId };
    expect(await refusal(foreign)).toEqual([404, 'source_output_id']);
    expect(await refusal({ source_output_id: secondId })).toEqual([400, 'source_output_id']);
    await server.request(deleteGeneration, { params: { id } }, { as: ada });
    const { source: left } = await setting.read(ada, edit.id);
    expect(left).toMatchObject({ generation_id: null, output_id: null });
  });

  test('keeps its input picture; an uploaded picture that no edit uses is deleted after a day', async () => {
    const { id: picture_id } = await upload(pictureFiles.png);
    const { id } = await start(ada, { picture_id });
    await setting.until(ada, id, 'completed');
    const forget = (hours: number) => {
      const now = () => new Date(clock.now().getTime() + hours * 3_600_000);
      const services = { ...server.services, clock: { ...clock, now } };
      return deleteUnusedPicturesJob.run(services, {}, AbortSignal.timeout(10_000));
    };
    await forget(23);
    expect(await pictures()).toHaveLength(2);
    await forget(25);
    expect(await pictures()).toEqual([{ generation_id: id }]);
    await server.request(deleteGeneration, { params: { id } }, { as: ada });
    expect(await pictures()).toEqual([]);
    const owned = db.selectFrom('blob_owners').select('sha256').where('owner_id', '=', ada.userId);
    expect(await owned.execute()).toEqual([]);
  });

  test('with a repeated key returns the first response, even if its input picture is gone', async () => {
    const { id: picture_id } = await upload(pictureFiles.png);
    const first = await start(ada, { picture_id }, 'first');
    const done = await setting.until(ada, first.id, 'completed');
    const second = await start(ada, { source_generation_id: done.id }, 'second');
    await setting.until(ada, second.id, 'completed');
    await db.deleteFrom('input_pictures').where('id', '=', picture_id).execute();
    await server.request(deleteGeneration, { params: { id: first.id } }, { as: ada });
    expect((await start(ada, { picture_id }, 'first')).id).toBe(first.id);
    expect((await start(ada, { source_generation_id: done.id }, 'second')).id).toBe(second.id);
    await expect(start(ada, { picture_id: second.id }, 'second')).rejects.toMatchObject({
      body: { error: { code: 'idempotency_conflict' } },
    });
  });

  test('of a picture that is deleted at the same time is rejected', async () => {
    const { id } = await setting.generate(ada);
    await setting.until(ada, id, 'completed');
    let started: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await tx.deleteFrom('generations').where('id', '=', id).execute();
      started = start(ada, { source_generation_id: id }).catch((error: unknown) => error);
      await expect.poll(isWaiting).toBe(true);
    });
    expect(await started).toMatchObject({
      ...{ status: 404, body: { error: { param: 'source_generation_id' } } },
    });
  });

  test('can be deleted while it runs; the deletion waits for the lock on stored bytes without locking the account', async () => {
    stub.answer = 'hang';
    const { id: picture_id } = await upload(pictureFiles.png);
    const { id } = await start(ada, { picture_id });
    await setting.until(ada, id, 'running');
    let deleted: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await lockStoredBytes(tx, ada.userId);
      deleted = server.request(deleteGeneration, { params: { id } }, { as: ada });
      await expect.poll(isWaiting).toBe(true);
      const { rows } = await sql`select id from ledger_accounts
        where owner_user_id = ${ada.userId} for update nowait`.execute(tx);
      expect(rows).not.toEqual([]);
    });
    await deleted;
    // Only the upload without an edit is left.
    expect(await pictures()).toEqual([{ generation_id: null }]);
  });

  test("is rejected without a picture, with two pictures, or with another user's picture", async () => {
    const { id: picture_id } = await upload(pictureFiles.png);
    const generated = await setting.generate(ada);
    await setting.until(ada, generated.id, 'completed');
    const bob = await server.signUp('Bob');
    const before = await setting.balance(bob);
    const refusal = (as: TestUser, source: object) =>
      start(as, source).catch(({ status, body }) => [status, body.error.param]);
    expect(await refusal(ada, {})).toEqual([400, 'picture_id']);
    const both = { picture_id, source_generation_id: generated.id };
    expect(await refusal(ada, both)).toEqual([400, 'source_generation_id']);
    expect(await refusal(bob, { picture_id })).toEqual([404, 'picture_id']);
    expect(await refusal(bob, { source_generation_id: generated.id })).toEqual([404, 'source_generation_id']);
    expect(await setting.balance(bob)).toEqual(before);
    const body = { generator: 'paris' as const, prompt: 'Bread', picture_id };
    await expect(server.request(startGeneration, { body }, { as: ada })).rejects.toMatchObject({
      body: { error: { param: 'picture_id', message: 'Paris starter does not accept a picture' } },
    });
  });
});

describe('the edit calls of the original product', () => {
  test('have the address that the list of generators shows, and return the picture', async () => {
    const { generators } = await server.request(listGenerators, {});
    expect(generators.find(({ name }) => name === 'flux-kontext')).toEqual({
      ...{
        name: 'flux-kontext',
        served_by: ['own'],
        starter: 'Kontext starter',
        is_being_prepared: false,
        is_connectable: true,
        upstreams: [],
        inference_url: server.url + address,
      },
    });
    expect(generators.find(({ name }) => name === 'paris')?.inference_url).toBeNull();
    const { data } = await server.request(listModels, {}, { as: ada });
    expect(data.map(({ id }) => id)).toContain('kontext-starter');

    const fields = {
      ...{ prompt: 'Make it blue', user_id: ada.userId, guidance_scale: '3.5', num_inference_steps: '12' },
      ...{ seed: '7', return_format: 'url', skip_integrity_check: 'false' },
    };
    const { status, json } = await send(`${address}/edit`, form(pictureFiles.webp, fields));
    expect([status, json]).toEqual([
      200,
      {
        ...{ image_url: expect.stringMatching(/^http/), image_id: expect.any(String), seed: 7 },
        ...{ guidance_scale: 3.5, num_inference_steps: 12, inference_time: expect.any(Number) },
        integrity_checked: true,
      },
    ]);
    expect((await fetch(String(json.image_url))).status).toBe(200);

    const params = { userId: ada.userId };
    const listed = () => server.request(listKontextImages, { params }, { as: ada });
    expect((await listed()).images).toMatchObject([
      {
        ...{ image_id: json.image_id, id: json.image_id, status: 'completed', error: null, seed: 7 },
        ...{ prompt: 'Make it blue', edit_description: 'Make it blue', model: 'kontext-starter' },
        ...{ s3_image_url: null, file_size_mb: 0, download_url: expect.stringContaining('attachment') },
      },
    ]);
    const id = String(json.image_id);
    await server.request(deleteKontextImage, { params: { id } }, { as: ada });
    expect((await listed()).images).toEqual([]);
    const generated = await setting.generate(ada);
    const other = server.request(deleteKontextImage, { params: { id: generated.id } }, { as: ada });
    await expect(other).rejects.toMatchObject({ status: 404 });
  });

  test('accept an address: a data URL, or a link of this server', async () => {
    const edit = (image_url: string, more = {}) =>
      send(`${address}/edit_url`, new URLSearchParams({ prompt: 'Make it blue', image_url, ...more }));
    const inline = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
    const written = inline.replace('data:image/png;base64', 'DATA:image/png;Base64').replaceAll('/', '%2F');
    expect((await edit(` ${written}`)).status).toBe(200);
    const { status, json } = await edit(inline, { return_format: 'base64', skip_integrity_check: 'true' });
    expect([status, json.seed], JSON.stringify(json)).toEqual([200, expect.any(Number)]);
    expect(json.image_url).toMatch(/^data:image\/png;base64,/);
    const { url } = await upload(pictureFiles.jpeg);
    expect((await edit(new URL(url, server.url).href)).status).toBe(200);
    expect(stub.requests.slice(-2).map((asked) => 'picture' in asked && asked.picture)).toEqual(
      [pictureFiles.png, pictureFiles.jpeg].map((file) => file.toString('base64')),
    );
  });

  test('report a link to a picture whose bytes are damaged', async () => {
    const { url } = await upload(pngOf(7, 5));
    const sha256 = /[0-9a-f]{64}/.exec(url)?.[0] ?? '';
    await db.updateTable('blobs').set({ damaged_at: new Date() }).where('sha256', '=', sha256).execute();
    const image_url = new URL(url, server.url).href;
    const body = new URLSearchParams({ prompt: 'Make it blue', image_url });
    const { status, json } = await send(`${address}/edit_url`, body);
    expect([status, json]).toMatchObject([
      409,
      { error: { message: expect.stringContaining('are damaged') } },
    ]);
  });

  test('release the memory of the input picture while they wait for the edit', async () => {
    stub.answer = 'hang';
    const image_url = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
    const byAddress = new URLSearchParams({ prompt: 'Make it blue', image_url });
    const generated = [1, 2].flatMap(() => [
      send(`${address}/edit`, form(pictureFiles.png, { prompt: 'Make it blue' })),
      send(`${address}/edit_url`, byAddress),
    ]);
    await expect.poll(async () => (await list(ada)).length).toBe(4);
    await upload(pictureFiles.jpeg);
    stub.answer = 'ok';
    stub.letGo();
    expect((await Promise.all(generated)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test('reach a deployment while it runs, and only for its owner', async () => {
    const { assetId } = await insertFlux(server.services, ada, 'My editor');
    const body = { model_id: assetId, user_id: ada.userId };
    const { pod_id: podId } = await server.request(imageCalls['flux-kontext'].deploy, { body }, { as: ada });
    const read = () => server.request(getImageDeployment, { params: { podId } }, { as: ada });
    const { inference_url: url, model_name } = await read();
    const path = new URL(url ?? '').pathname;
    const edit = (as: TestUser) =>
      send(`${path}/edit`, form(pictureFiles.png, { prompt: 'Make it blue' }), as);
    const { status, json } = await edit(ada);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(await setting.read(ada, String(json.image_id))).toMatchObject({ model: model_name, cost: '0.14' });
    expect((await edit(await server.signUp('Bob'))).status).toBe(404);
    const query = { user_id: ada.userId };
    await server.request(imageCalls.flux.terminate, { params: { podId }, query }, { as: ada });
    const image_url = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
    const ended = await send(`${path}/edit_url`, new URLSearchParams({ prompt: 'Make it blue', image_url }));
    expect(ended).toMatchObject({
      status: 409,
      json: { error: { message: 'The deployment of My editor has ended', param: 'podId' } },
    });
  });

  test('return the missing amount if the credit does not cover the edit', async () => {
    await inTransaction(db, (tx) => withdrawCredits(tx, ada.userId));
    const { status, json } = await send(
      `${address}/edit`,
      form(pictureFiles.png, { prompt: 'Make it blue' }),
    );
    expect([status, json]).toMatchObject([
      402,
      { error: { code: 'insufficient_funds', required_amount: '0.14' }, required_amount: '0.14' },
    ]);
  });

  test("report the model's refusal", async () => {
    stub.answer = 'refuse';
    const before = await setting.balance(ada);
    const { status, json } = await send(
      `${address}/edit`,
      form(pictureFiles.png, { prompt: 'Make it blue' }),
    );
    expect([status, json]).toMatchObject([
      400,
      { error: { message: 'The prompt is too long for this model. Nothing was charged' } },
    ]);
    expect(await setting.balance(ada)).toEqual(before);
  });
});
