import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';
import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../platform/context.ts';
import { refused } from '../../platform/errors.ts';
import { receiveForm } from '../../platform/http/bodies/receive-form.ts';
import { collectPicture } from './collect-picture.ts';

/** A body that takes longer is given up: it keeps a place from others. One and a half megabits a second are enough for any. */
const WHOLE_MS = 2 * 60_000;
// A file more than there may be, so that it can be named.
const limits = { fileSize: PICTURE_BYTES_MAX + 1, files: 2, fields: 20, fieldSize: 64 * 1024 };

type Received<Bytes = Buffer> = { bytes: Bytes; fields: Record<string, string> };
type Options = { stallMs?: number; wholeMs?: number };

/**
 * Hands the bytes of a multipart request's picture, which come in the part of that name, and what its other parts say, to
 * `take`, and answers what it does. Nothing is stored: `take` does so where the other parts fit as well. Throws AppError
 * with the part that does not fit, and what `receiveForm` throws.
 */
export async function receivePicture<Result>(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  take: (received: Received) => Promise<Result>,
  options: Options = {},
): Promise<Result> {
  const takeWhole = async ({ bytes, fields }: Received<Buffer | null>) => {
    if (!bytes) throw refused(part, `Send the picture in a part named ${part}`);
    return take({ bytes, fields });
  };
  return receiveOptionalPicture(ctx, request, part, takeWhole, options);
}

/** The same where the picture may be left out: then its bytes are null. */
export async function receiveOptionalPicture<Result>(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  take: (received: Received<Buffer | null>) => Promise<Result>,
  { stallMs, wholeMs = WHOLE_MS }: Options = {},
): Promise<Result> {
  const form = { part, limits, stallMs, wholeMs };
  const taken = await receiveForm(ctx, request, form, async (parts) => take(await readParts(parts, part)));
  // Nobody holds the bytes any more.
  request.leaveBodyRoom();
  return taken;
}

async function readParts(parts: AsyncIterable<Multipart>, part: string): Promise<Received<Buffer | null>> {
  let bytes: Buffer | null = null;
  const fields: Record<string, string> = {};
  for await (const value of parts) {
    if (value.type === 'field') {
      if (value.valueTruncated) throw refused(value.fieldname, `${value.fieldname} is too long`);
      fields[value.fieldname] = String(value.value);
    } else {
      // OpenAI's clients name a list of files so, also where it has one.
      const name = value.fieldname === `${part}[]` ? part : value.fieldname;
      if (name !== part) throw refused(name, `Unknown parameter: ${name.slice(0, 80)}`);
      if (bytes) throw refused(part, 'Send one picture per request');
      bytes = await collectPicture(value.file, part);
    }
  }
  return { bytes, fields };
}
