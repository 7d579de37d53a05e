import { randomUUID } from 'node:crypto';
import type { TestServer, TestUser } from '../test-server.ts';

/**
 * For tests: inserts objects of the user that calls alone cannot create: a usage window, a reading, a clone,
 * a response and a draft.
 */
export async function insertRows(
  server: Pick<TestServer, 'app' | 'services'>,
  user: TestUser,
  datasetId: string,
): Promise<Record<string, string>> {
  const { windowId } = await server.app.usage.reserve({
    userId: user.userId,
    keyId: null,
    use: 'llm_inference',
    source: 'model:crumb',
    description: 'Tokens of crumb',
    references: {},
    unitPrices: [1n],
    priceMicro: 1n,
  });
  const { id: readingId } = await server.services.db
    .insertInto('data_readings')
    .values({
      user_id: user.userId,
      data_name: 'rows',
      dataset_asset_id: datasetId,
      file_name: 'rows.csv',
      input: '{}',
      created_at: new Date(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const now = new Date();
  const { id: cloneId } = await server.services.db
    .insertInto('hub_clones')
    .values({
      ...{ user_id: user.userId, repo_id: 'bakery/rye', dataset_type: 'MODEL', commit_id: 'a'.repeat(40) },
      ...{ state: 'FAILED', check_at: now, created_at: now, ended_at: now },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const response_id = await insertResponse(server, user);
  return { windowId, readingId, cloneId, response_id, ...(await insertDraft(server, user)) };
}

async function insertResponse({ services }: Pick<TestServer, 'services'>, user: TestUser): Promise<string> {
  const id = `resp_${'0'.repeat(32)}`;
  const response = {
    ...{ id, object: 'response', created_at: 0, status: 'completed', model: 'crumb', output: [] },
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  const input = [{ id: 'msg_1', type: 'message', role: 'user', content: 'Bread' }];
  await services.db
    .insertInto('responses')
    .values({
      ...{ id, user_id: user.userId, size_bytes: 2, created_at: new Date() },
      ...{ input: JSON.stringify(input), response: JSON.stringify(response) },
    })
    .execute();
  return id;
}

/** For tests: inserts a completed batch of the user. */
export async function insertBatch(server: Pick<TestServer, 'services'>, user: TestUser): Promise<string> {
  const now = new Date();
  const id = randomUUID();
  await server.services.db
    .insertInto('bulk_answers')
    .values({
      ...{
        id,
        kind: 'batch',
        user_id: user.userId,
        endpoint: '/v1/responses',
        model: 'crumb',
        prices: '{}',
        total: 1,
      },
      ...{ input_asset_id: randomUUID(), hold_id: randomUUID(), held_micro: 1n, outcome: 'completed' },
      ...{ created_at: now, started_at: now, expires_at: now, ended_at: now, check_at: now },
    })
    .execute();
  return id;
}

/** For tests: inserts a completed draft of the user with a document and a row. */
async function insertDraft(
  { services: { db } }: Pick<TestServer, 'services'>,
  user: TestUser,
): Promise<{ draft_id: string; document_id: string; row_id: string }> {
  const now = new Date();
  const [id, documentId] = [randomUUID(), randomUUID()];
  const ended = { started_at: now, ended_at: now, outcome: 'completed', total: 1, completed: 1 };
  const draft = { id, kind: 'draft', user_id: user.userId, created_at: now, check_at: now, ...ended };
  await db.insertInto('bulk_answers').values(draft).execute();
  const document = { id: documentId, draft_id: id, name: 'bread.md', empty_pages: 0, characters: 3 };
  const sections = JSON.stringify([{ page: null, heading: null, text: 'Rye' }]);
  await db
    .insertInto('draft_documents')
    .values({ ...document, sections })
    .execute();
  const chunk = { draft_id: id, number: 1, document_id: documentId, source: 'bread.md', content: 'Rye' };
  await db
    .insertInto('draft_chunks')
    .values({ ...chunk, state: 'answered' })
    .execute();
  const { id: rowId } = await db
    .insertInto('draft_rows')
    .values({ draft_id: id, chunk: 1, position: 0, question: 'Which bread?', answer: 'Rye.' })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { draft_id: id, document_id: documentId, row_id: rowId };
}

/** For tests: inserts an image and a video without generating them. They have the bytes of a user's file. */
export async function insertPicture(
  server: Pick<TestServer, 'services'>,
  user: TestUser,
  datasetId: string,
): Promise<{ generationId: string; outputId: string; videoId: string }> {
  const picture = await insertGenerated(server, user, datasetId, {
    generator: 'paris',
    media_type: 'image/png',
  });
  const videoFields = { duration_s: 1, has_audio: false };
  const video = await insertGenerated(server, user, datasetId, {
    ...{ generator: 'wan', media_type: 'video/mp4' },
    ...videoFields,
  });
  return { ...picture, videoId: video.generationId };
}

async function insertGenerated(
  { services: { db } }: Pick<TestServer, 'services'>,
  user: TestUser,
  datasetId: string,
  {
    generator,
    ...output
  }: { generator: string; media_type: string; duration_s?: number; has_audio?: boolean },
): Promise<{ generationId: string; outputId: string }> {
  const now = new Date();
  const { id: generationId } = await db
    .insertInto('generations')
    .values({
      ...{ user_id: user.userId, generator, provider: 'own', model: 'crumb', prompt: 'Bread' },
      ...{ parameters: '{}', seed: 1n, request_sha256: '', state: 'completed', steps: 1 },
      ...{ hold_id: randomUUID(), held_micro: 1n, charged_micro: 1n },
      ...{ check_at: now, created_at: now, ended_at: now },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { sha256, size_bytes } = await db
    .selectFrom('asset_files')
    .select(['sha256', 'size_bytes'])
    .where('asset_id', '=', datasetId)
    .executeTakeFirstOrThrow();
  const { id: outputId } = await db
    .insertInto('generation_outputs')
    .values({
      ...{ generation_id: generationId, user_id: user.userId, sha256, size_bytes },
      ...{ width: 1, height: 1, ...output },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { generationId, outputId };
}
