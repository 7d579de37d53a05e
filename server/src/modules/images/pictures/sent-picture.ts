import { createHash } from 'node:crypto';
import type { InputPicture } from './picture-queries.ts';
import { type Source, uploaded } from './read-source.ts';

/** A picture that a call brings along. */
export type SentPicture = {
  /** Of the bytes or the address that came: a repeated call is known by it. */
  sha256: string;
  /** Stores it as what is to be edited. */
  read: () => Promise<Source>;
};

/** The picture of these bytes, or at this address, which `read` stores. `param` is the field that it came in. */
export function sentPicture(
  sent: Buffer | string,
  param: string,
  read: () => Promise<InputPicture>,
): SentPicture {
  return {
    sha256: createHash('sha256').update(sent).digest('hex'),
    read: async () => uploaded(await read(), param),
  };
}
