import type { Services } from '../../context.ts';
import type { Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { AppError } from '../../errors.ts';
import type { Blob } from '../blob-store.ts';
import { lockStoredBytes, ownsBlob } from '../owner-queries.ts';
import { readBlobState } from '../queries.ts';
import { insertUpload, sumUnfinished } from './queries.ts';
import { choosePartBytes, type Upload } from './upload.ts';

/** Unfinished uploads of one user: far more than anybody sends at once. */
const UNFINISHED_MAX = 1000;

type Input = {
  userId: string;
  /** At least 1. */
  sizeBytes: number;
  /** Of the whole file, where its sender knows it. */
  sha256: string | null;
  /** Chosen by the size unless said; a file that comes in one piece is one part. */
  partBytes?: number;
};

/**
 * The transaction in which an upload is opened: it locks what it needs, opens it, looks at the room that the user has left,
 * and writes what refers to the upload.
 */
type Opening = (tx: Transaction, open: () => Promise<Upload>) => Promise<Upload>;

/**
 * Opens an upload of a file in parts. Where the user has these very bytes already it is whole at once, and has its `blob`.
 * Throws what `opening` throws, AppError('unavailable') where the disk has no room, and 'rate_limited' where the user
 * has too many unfinished.
 */
export async function openUpload(
  services: Pick<Services, 'blobs' | 'db'>,
  { userId, sizeBytes, sha256, partBytes = choosePartBytes(sizeBytes) }: Input,
  opening: Opening = (_tx, open) => open(),
): Promise<Upload> {
  const blob = sha256 === null ? null : await findOwn(services, { userId, sha256, sizeBytes });
  const storeKey = await services.blobs.parts.open(blob ? 0 : sizeBytes);
  try {
    return await inTransaction(services.db, (tx) =>
      opening(tx, async () => {
        await lockStoredBytes(tx, userId);
        await refuseMany(tx, userId);
        return insertUpload(tx, { userId, storeKey, sizeBytes, partBytes, announcedSha256: sha256, blob });
      }),
    );
  } catch (error) {
    await services.blobs.parts.abandon(storeKey);
    throw error;
  }
}

/** The bytes, if the user has them undamaged: what others have is never told. */
async function findOwn(
  { blobs, db }: Pick<Services, 'blobs' | 'db'>,
  { userId, sha256, sizeBytes }: Blob & { userId: string },
): Promise<Blob | null> {
  if (!(await ownsBlob(db, userId, sha256))) return null;
  if ((await readBlobState(db, sha256)).isDamaged) return null;
  return (await blobs.stat(sha256))?.sizeBytes === sizeBytes ? { sha256, sizeBytes } : null;
}

async function refuseMany(tx: Transaction, userId: string): Promise<void> {
  const { uploads } = await sumUnfinished(tx, userId);
  if (uploads < UNFINISHED_MAX) return;
  throw new AppError('rate_limited', {
    publicMessage: `At most ${UNFINISHED_MAX} uploads of one user may be unfinished. Complete or cancel some of them`,
  });
}
