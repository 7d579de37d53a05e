import { createHash } from 'node:crypto';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { keepPicture } from './keep-picture.ts';
import type { InputPicture } from './picture-queries.ts';
import { type Source, uploaded } from './read-source.ts';

/** A picture that a call brings along. */
export type SentPicture = {
  /** Of the bytes or the address that came: a repeated call is known by it. */
  sha256: string;
  /** Stores it as what is to be edited. Where it is not edited then, it is the caller's for a day, as an uploaded one is: what lies on the disk counts. */
  read: () => Promise<Source>;
};

/** The picture of these bytes, or at this address, which `read` stores. `param` is the field that it came in. */
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
