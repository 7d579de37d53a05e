import type { pictureTypes } from '@bakehouse/contract/media';
import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { DB } from '../../../platform/db/schema.generated.ts';

import { type Thumbnail, toThumbnail, toThumbnailColumns } from '../../media/thumbnails/thumbnails.ts';

type Db = Database | Transaction;

/* SQL of input pictures. */

/** A stored picture that can be edited. */
export type InputPicture = {
  sha256: string;
  sizeBytes: number;
  mediaType: (typeof pictureTypes)[number];
  width: number;
  height: number;
  thumbnail: Thumbnail | null;
};
/** A picture that is edited, or the mask that limits its edit. */
export type InputRole = 'source' | 'mask';
export type InputPictures = Partial<Record<InputRole, InputPicture>>;
export type InputPictureRow = Selectable<DB['input_pictures']>;

/** Inserts the picture without a generation and returns its id. */
export async function insertInputPicture(
  tx: Transaction,
  { userId, picture, createdAt }: { userId: string; picture: InputPicture; createdAt: Date },
): Promise<string> {
  const { id } = await tx
    .insertInto('input_pictures')
    .values({
      ...{ user_id: userId, created_at: createdAt },
      ...{ sha256: picture.sha256, size_bytes: BigInt(picture.sizeBytes), media_type: picture.mediaType },
      ...{ width: picture.width, height: picture.height, ...toThumbnailColumns(picture.thumbnail) },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function attachInputPicture(
  tx: Transaction,
  { id, generationId, role }: { id: string; generationId: string; role: InputRole },
): Promise<void> {
  await tx
    .updateTable('input_pictures')
    .set({ generation_id: generationId, role })
    .where('id', '=', id)
    .execute();
}

export async function findInputPicture(
  db: Db,
  { id, userId }: { id: string; userId: string },
): Promise<InputPicture | undefined> {
  const row = await db
    .selectFrom('input_pictures')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && toPicture(row);
}

/** Returns the input pictures by generation; generations without one are missing. */
export async function findInputPictures(
  db: Db,
  generationIds: string[],
): Promise<Map<string, InputPictures>> {
  if (generationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('input_pictures')
    .selectAll()
    .where('generation_id', '=', sql<string>`any(${generationIds}::uuid[])`)
    .execute();
  const found = new Map<string, InputPictures>();
  for (const row of rows) {
    const id = row.generation_id ?? '';
    found.set(id, { ...found.get(id), [row.role]: toPicture(row) });
  }
  return found;
}

/** Deletes old pictures that no generation uses. */
export async function deleteUnusedPicturesBefore(db: Db, before: Date): Promise<void> {
  await db
    .deleteFrom('input_pictures')
    .where('generation_id', 'is', null)
    .where('created_at', '<', before)
    .execute();
}

/**
 * Deletes the user's uploaded pictures that no generation uses. The others are deleted with their generation,
 * which a service may still be working on.
 */
export async function deleteUnusedPicturesOf(db: Db, userId: string): Promise<void> {
  await db
    .deleteFrom('input_pictures')
    .where('user_id', '=', userId)
    .where('generation_id', 'is', null)
    .execute();
}

function toPicture(row: InputPictureRow): InputPicture {
  const { sha256, size_bytes, media_type, width, height } = row;
  return {
    ...{ sha256, width, height, sizeBytes: Number(size_bytes), thumbnail: toThumbnail(row) },
    mediaType: media_type as InputPicture['mediaType'],
  };
}
