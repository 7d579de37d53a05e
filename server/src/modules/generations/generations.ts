import type { Readable } from 'node:stream';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation, listGenerations as listGenerationsEndpoint } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { recently } from '../../platform/clock.ts';
import type { Context, Services } from '../../platform/context.ts';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { readSnapshot } from '../../platform/db/read-snapshot.ts';
import { unknownCursor, unknownId } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { lockStoredBytes } from '../../platform/storage/owner-queries.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { linkBlob } from '../assets/files/links/file-links.ts';
import { findRevisions, type NamedRevision } from '../assets/revisions/find-revisions.ts';
import { type Thumbnail, toThumbnail } from '../media/thumbnails/thumbnails.ts';
import { findServiceTitle } from '../providers/find-upstreams.ts';
import { mediumOf, titleOf } from './media-table.ts';
import {
  findPositions,
  findPreviews,
  type GenerationRow,
  insertGeneration,
  insertOutput,
  lockGeneration,
  nextId,
  type OutputRow,
  removeGeneration,
  type SameRequest,
  selectGenerations,
  toRow,
} from './queries.ts';
import {
  findInputPictures,
  type InputPicture,
  type InputPictures,
  type InputRole,
} from './sources/picture-queries.ts';

type Db = Database | Transaction;

type Own = { id: string; userId: string };

/** Returns the newest generation that an identical request started. */
export async function findByRequest(
  db: Db,
  { userId, requestSha256 }: SameRequest,
): Promise<GenerationRow | undefined> {
  const row = await db
    .selectFrom('generations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('request_sha256', '=', requestSha256)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toRow(row);
}

export async function findGeneration(db: Db, { id, userId }: Own): Promise<GenerationRow | undefined> {
  const row = await db
    .selectFrom('generations')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && toRow(row);
}

/** Returns the user's generations among these ids, by id. */
export async function findGenerations(
  db: Db,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<Map<string, GenerationRow>> {
  const rows = await db
    .selectFrom('generations')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('user_id', '=', userId)
    .execute();
  return new Map(rows.map((row) => [row.id, toRow(row)]));
}

/** Returns the outputs of each generation. */
export async function findOutputs(db: Db, generationIds: string[]): Promise<Map<string, OutputRow[]>> {
  const rows = await db
    .selectFrom('generation_outputs')
    .selectAll()
    .where('generation_id', '=', sql<string>`any(${generationIds}::uuid[])`)
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, (row) => row.generation_id);
}

/** Returns the id of the generation that made the output. */
export async function findGenerationOfOutput(db: Db, { id, userId }: Own): Promise<string | undefined> {
  const row = await db
    .selectFrom('generation_outputs')
    .select('generation_id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.generation_id;
}

/** Returns one of the caller's generations. Throws AppError 'not_found'. */
export async function getGeneration(ctx: Context, { id }: { id: string }): Promise<Generation> {
  return readSnapshot(ctx.db, async (tx) => {
    const row = await findGeneration(tx, { id, userId: ctx.caller.userId });
    const [shown] = await showGenerations(ctx, tx, row ? [row] : []);
    if (!shown) throw unknownId('generation');
    return shown;
  });
}

/**
 * Returns the caller's generations, newest first; with `recent`, only those that are active or ended
 * recently. The cursor is the last generation of the previous page.
 */
export async function listGenerations(
  ctx: Context,
  query: InputOf<typeof listGenerationsEndpoint>['query'] & {
    generators?: readonly GeneratorName[];
    model?: string | undefined;
    recent?: boolean;
  },
): Promise<ResponseOf<typeof listGenerationsEndpoint>> {
  const { userId } = ctx.caller;
  const { cursor, limit, recent, ...wanted } = query;
  const endedSince = recent ? recently(ctx.clock.now()) : undefined;
  return readSnapshot(ctx.db, async (tx) => {
    if (cursor !== undefined && !(await findGeneration(tx, { id: cursor, userId }))) throw unknownCursor();
    const found = await selectGenerations(tx, { ...wanted, userId, endedSince, cursor, limit: limit + 1 });
    const page = found.slice(0, limit);
    return {
      generations: await showGenerations(ctx, tx, page),
      next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
  });
}

/**
 * Returns generations with their outputs, sources and previews for the API; five queries regardless of the
 * number of rows.
 */
export async function showGenerations(
  ctx: Pick<Context, 'blobs' | 'caller' | 'clock' | 'config'>,
  db: Database | Transaction,
  rows: GenerationRow[],
): Promise<Generation[]> {
  const ids = (state: GenerationRow['state']) =>
    rows.filter((row) => row.state === state).map(({ id }) => id);
  const outputs = await findOutputs(db, ids('completed'));
  const inputs = await findInputPictures(
    db,
    rows.map(({ id }) => id),
  );
  const previews = await findPreviews(db, ids('running'));
  const positions = await findPositions(db, ids('queued'));
  const revisions = await findRevisions(db, {
    ids: [...new Set(rows.flatMap(revisionsOf))],
    userId: ctx.caller.userId,
  });
  return Promise.all(
    rows.map((row) =>
      toGeneration(ctx, row, {
        outputs: outputs.get(row.id) ?? [],
        input: inputs.get(row.id) ?? {},
        preview: previews.get(row.id) ?? null,
        position: positions.get(row.id) ?? null,
        modelRevision: revisions.get(row.revision_id ?? '') ?? null,
        lora: revisions.get(row.lora_revision_id ?? '') ?? null,
      }),
    ),
  );
}

function revisionsOf({ revision_id, lora_revision_id }: GenerationRow): string[] {
  return [revision_id, lora_revision_id].filter((id) => id !== null);
}

type Related = {
  outputs: OutputRow[];
  /** The input picture and its mask. */
  input: InputPictures;
  /** The latest preview; null before the first one and after the end. */
  preview: string | null;
  /** The number of generations ahead of it in the queue; null if it is not queued. */
  position: number | null;
  /** Revision of the model that generated it; null if the model or the revision was deleted. */
  modelRevision: NamedRevision | null;
  /** Revision of its LoRA; null if the LoRA or the revision was deleted. */
  lora: NamedRevision | null;
};

/** Returns a generation for the API. */
async function toGeneration(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  row: GenerationRow,
  { outputs, input, preview, position, modelRevision, lora }: Related,
): Promise<Generation> {
  const { prompt, parameters, state, step, steps, details } = row;
  return {
    id: row.id,
    ...{ generator: row.generator, provider: row.provider, model: row.model, title: titleOf(row) },
    service: row.provider === 'own' ? null : findServiceTitle(row.generator, row.model),
    model_revision: modelRevision && toNamedRevision(modelRevision),
    lora_revision: lora && toNamedRevision(lora),
    ...{ prompt, parameters, state, step, steps, preview },
    expert_weights: details.expert_weights ?? null,
    expert_used: details.expert_used ?? null,
    routing_confidence: details.routing_confidence ?? null,
    seed: row.seed === null ? null : Number(row.seed),
    source: await toSource(services, row, input),
    root_id: row.root_generation_id ?? row.id,
    reason: state === 'queued' ? whyItWaits(row, position) : row.reason,
    refused: row.refused,
    position: state === 'queued' ? (position ?? 0) : null,
    cost: formatBgl(row.charged_micro ?? row.held_micro),
    outputs: await Promise.all(
      outputs.map((output, index) =>
        toOutput(services, nameOf(row, outputs.length > 1 ? index : null), output),
      ),
    ),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

function toNamedRevision({ assetId, revisionId, number, title }: NamedRevision) {
  return { asset_id: assetId, revision_id: revisionId, number, title };
}

function whyItWaits({ reason, generator }: GenerationRow, position: number | null): string {
  if (reason !== '') return reason;
  if (!position) return 'Next in the queue';
  const { noun } = mediumOf(generator);
  return position === 1 ? `One ${noun} ahead of yours` : `${position} ${noun}s ahead of yours`;
}

/** Returns the file name of a download: generator and seed, with an index if there are several outputs. */
function nameOf({ id, generator, seed }: GenerationRow, index: number | null): string {
  const place = index === null ? '' : `-${index + 1}`;
  return `${generator}-${seed ?? id.slice(-8)}${place}`;
}

async function toSource(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { user_id: user, source_generation_id, source_output_id }: GenerationRow,
  { source, mask }: InputPictures,
): Promise<Generation['source']> {
  if (!source) return null;
  const { mediaType, width, height, thumbnail } = source;
  const link = async (role: InputRole, picture: InputPicture) => {
    const { sha256 } = picture;
    const path = `${role}.${picture.mediaType.split('/')[1]}`;
    return (await linkBlob(services, { user, sha256, path, disposition: 'inline' })).url;
  };
  const url = await link('source', source);
  return {
    ...{ generation_id: source_generation_id, output_id: source_output_id },
    ...{ url, thumbnail_url: await linkThumbnail(services, { user, thumbnail, url }) },
    ...{ media_type: mediaType, width, height },
    mask_url: mask ? await link('mask', mask) : null,
  };
}

async function toOutput(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  name: string,
  row: OutputRow,
): Promise<Generation['outputs'][number]> {
  const { id, user_id: user, sha256, media_type, width, height, size_bytes, duration_s } = row;
  const path = `${name}.${media_type.split('/')[1]}`;
  const [shown, saved] = await Promise.all([
    linkBlob(services, { user, sha256, path, disposition: 'inline' }),
    linkBlob(services, { user, sha256, path, disposition: 'attachment' }),
  ]);
  return {
    ...{ id, media_type, width, height, duration_s },
    ...{ frames: row.frames, has_audio: row.has_audio },
    url: shown.url,
    thumbnail_url: await linkThumbnail(services, { user, thumbnail: toThumbnail(row), url: shown.url }),
    strip_url: row.strip_sha256 === null ? null : (await linkStrip(services, row, row.strip_sha256)).url,
    download_url: saved.url,
    size_bytes: Number(size_bytes),
  };
}

function linkStrip(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { user_id: user }: OutputRow,
  sha256: string,
) {
  return linkBlob(services, { user, sha256, path: 'frames.webp', disposition: 'inline' });
}

/** Returns a link to a picture's thumbnail, or `url` if it has none. */
async function linkThumbnail(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { user, thumbnail, url }: { user: string; thumbnail: Thumbnail | null; url: string },
): Promise<string> {
  if (!thumbnail) return url;
  const { sha256 } = thumbnail;
  const path = 'thumbnail.webp';
  return (await linkBlob(services, { user, sha256, path, disposition: 'inline' })).url;
}

/**
 * Step: moves a completed generation to another user at no charge. The generation must use the prompt alone,
 * without a picture. Returns its new id, which makes it that user's newest generation; null if it is still
 * running, and undefined if it does not exist or has no output.
 */
export async function transferGeneration(
  tx: Transaction,
  { id, from, to }: { id: string; from: string; to: string },
): Promise<string | null | undefined> {
  const row = await lockGeneration(tx, { id, userId: from }, 'changes');
  if (!row) return undefined;
  if (row.ended_at === null) return null;
  if (row.state !== 'completed') return undefined;
  if (row.root_generation_id !== null || row.lora_revision_id !== null)
    throw new Error(`Generation ${id} has inputs besides its prompt`);
  for (const userId of [from, to].sort()) await lockStoredBytes(tx, userId);
  const newId = await nextId(tx);
  const { parameters, details, asked, upstream_job: _, ...columns } = row;
  await insertGeneration(tx, {
    ...{ ...columns, id: newId, user_id: to, key_id: null, charged_micro: 0n },
    ...{ parameters: toJson(parameters), details: toJson(details), asked: asked && toJson(asked) },
  });
  for (const output of (await findOutputs(tx, [id])).get(id) ?? []) {
    const { id: _id, ...made } = output;
    await insertOutput(tx, { ...made, generation_id: newId, user_id: to });
  }
  await removeGeneration(tx, id);
  await publishChange(tx, to, { topic: 'generation', id: newId });
  return newId;
}

/**
 * Returns the bytes of all outputs of a generation; a stream fails if its hash does not match. Throws the
 * errors of `readBlob`.
 */
export async function readOutputs(ctx: Context, generationId: string): Promise<Readable[]> {
  const stored = (await findOutputs(ctx.db, [generationId])).get(generationId) ?? [];
  return Promise.all(
    stored.map(({ sha256 }) => readBlob(ctx, { sha256, path: `generation ${generationId}` })),
  );
}

/** Returns the metadata to embed in a picture's file, each value as text. */
export function generationMetadata({
  prompt,
  model,
  id,
  parameters,
}: Pick<GenerationRow, 'prompt' | 'model' | 'id' | 'parameters'>): Record<string, string> {
  return {
    ...{ prompt, model, generation_id: id },
    ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
  };
}

/** Returns the seconds from the first attempt to the end; null until it has ended. */
export function generationSeconds({
  started_at,
  ended_at,
}: Pick<Generation, 'started_at' | 'ended_at'>): number | null {
  return started_at && ended_at ? (Date.parse(ended_at) - Date.parse(started_at)) / 1000 : null;
}

/** Locks and returns the user's generation. Throws AppError 'not_found'. */
export async function lockUserGeneration(
  tx: Transaction,
  own: { id: string; userId: string },
): Promise<GenerationRow> {
  const row = await lockGeneration(tx, own, 'changes');
  if (!row) throw unknownId('generation');
  return row;
}
