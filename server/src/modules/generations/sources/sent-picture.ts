import { createHash } from 'node:crypto';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { keepPicture } from './keep-picture.ts';
import type { InputPicture } from './picture-queries.ts';
import { type Source, uploaded } from './read-source.ts';

/** A picture sent with a call. */
export type SentPicture = {
  /** Hash of the bytes or the address sent, which identifies a repeated call. */
  sha256: string;
  /**
   * Stores it as the picture to edit. If it is not used after all, it belongs to the caller for a day like an
   * uploaded picture, because it counts against the quota.
   */
  read: () => Promise<Source>;
};

/**
 * Returns the picture with these bytes or at this address; `read` stores it. `param` is the request field.
 */
export function sentPicture(
  ctx: Context,
  sent: Buffer | string,
  param: string,
  read: () => Promise<InputPicture>,
): SentPicture {
  return {
    sha256: createHash('sha256').update(sent).digest('hex'),
    read: async () => {
      const picture = await read();
      const inputId = await inTransaction(ctx.db, (tx) => keepPicture(tx, ctx, { picture, param }));
      return { ...uploaded(picture, param), inputId };
    },
  };
}
