import { PICTURE_BYTES_MAX } from '@bakehouse/contract/pictures';
import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { notForm } from '../../../platform/http/bodies/read-body.ts';
import { untilKeyEnds } from '../../../platform/http/callers/until-key-ends.ts';
import { collectPicture } from './collect-picture.ts';

/** A body of which nothing comes for so long is given up. */
const STALL_MS = 60_000;
/** And one that comes so slowly: it has taken a place in memory. Half a megabit a second is enough. */
const WHOLE_MS = 5 * 60_000;
const FIELDS_MAX = 20;
const FIELD_BYTES_MAX = 64 * 1024;

type Received = { bytes: Buffer; fields: Record<string, string> };

/**
 * The bytes of a multipart request's picture, which come in the part of that name, and what its other parts say. Nothing is
 * stored: the caller does so once the other parts fit as well. Throws AppError with the part that does not fit, and
 * 'unauthenticated' where the API key ends meanwhile.
 */
export async function receivePicture(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  { stallMs = STALL_MS, wholeMs = WHOLE_MS } = {},
): Promise<Received> {
  if (!request.isMultipart()) throw notForm(part);
  const key = untilKeyEnds(ctx);
  // Both end the connection, so nobody is there to be answered; also where the rest of a refused body does not come.
  request.raw.setTimeout(stallMs, () => request.raw.destroy());
  const late = setTimeout(() => request.raw.destroy(), wholeMs).unref();
  for (const end of ['end', 'close']) request.raw.once(end, () => clearTimeout(late));
  try {
    const received = await Promise.race([readParts(request, part), failWhenAborted(key.signal)]);
    request.raw.setTimeout(0);
    return received;
  } catch (error) {
    // What is still on its way has to be read, or the connection would stand still for ever.
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  } finally {
    key.stop();
  }
}

function failWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
  });
}

async function readParts(request: FastifyRequest, part: string): Promise<Received> {
  let bytes: Buffer | undefined;
  const fields: Record<string, string> = {};
  // A file more than there may be, so that it can be named.
  const limits = {
    fileSize: PICTURE_BYTES_MAX + 1,
    files: 2,
    fields: FIELDS_MAX,
    fieldSize: FIELD_BYTES_MAX,
  };
  const parts = request.parts({ limits });
  for (let next = await readPart(parts, part); !next.done; next = await readPart(parts, part)) {
    const { value } = next;
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
  if (!bytes) throw refused(part, `Send the picture in a part named ${part}`);
  return { bytes, fields };
}

async function readPart(
  parts: AsyncIterableIterator<Multipart>,
  part: string,
): Promise<IteratorResult<Multipart>> {
  try {
    return await parts.next();
  } catch (cause) {
    throw refused(part, 'The multipart body cannot be read', cause);
  }
}

function refused(param: string, publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, param, cause });
}
