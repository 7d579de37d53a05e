import { readFile } from 'node:fs/promises';
import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { fairQueue } from '../../platform/concurrency/fair-queue.ts';
import type { Context, Services } from '../../platform/context.ts';
import { AppError, invalidParam, payloadTooLarge } from '../../platform/errors.ts';
import { receiveForm } from '../../platform/http/bodies/receive-form.ts';
import { withBlobFile } from '../../platform/storage/read-blob.ts';
import { type InspectedPicture, inspectPicture } from './inspect-picture.ts';

/**
 * Time for each picture of an upload. Slower uploads are aborted, because each upload occupies a slot. At 1.5
 * Mbit/s the largest picture is in time.
 */
const WHOLE_MS = 2 * 60_000;

// Accept one file more than allowed, so that the error can name it.
const limits = { fileSize: PICTURE_BYTES_MAX + 1, files: 2, fields: 20, fieldSize: 64 * 1024 };

/**
 * Limits how many stored pictures this process loads concurrently. A check takes milliseconds, but a picture
 * has up to 20 MB.
 */
const places = fairQueue(2);

type Received<Bytes = Buffer> = {
  bytes: Bytes;
  /** The picture in the part `optionalPart`. */
  second: Buffer | null;
  fields: Record<string, string>;
};

type Options = { stallMs?: number; wholeMs?: number; optionalPart?: string };

/**
 * Receives a picture and the other fields of a multipart request, passes them to `take`, and returns its
 * result. Nothing is stored before `take`, which can validate the fields first. Throws AppError with the name
 * of an invalid part, and the errors of `receiveForm`.
 */
export async function receivePicture<Result>(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  take: (received: Received) => Promise<Result>,
  options: Options = {},
): Promise<Result> {
  const receiveWhole = async ({ bytes, ...rest }: Received<Buffer | null>) => {
    if (!bytes) throw invalidParam(part, `Send the picture in a part named ${part}`);
    return take({ bytes, ...rest });
  };
  return receiveOptionalPicture(ctx, request, part, receiveWhole, options);
}

/** Like `receivePicture`, but the picture is optional: `bytes` may be null. */
export async function receiveOptionalPicture<Result>(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  take: (received: Received<Buffer | null>) => Promise<Result>,
  { stallMs, optionalPart, wholeMs = WHOLE_MS * (optionalPart === undefined ? 1 : 2) }: Options = {},
): Promise<Result> {
  const files = optionalPart === undefined ? limits.files : limits.files + 1;
  const form = { part, limits: { ...limits, files }, stallMs, wholeMs };
  const taken = await receiveForm(ctx, request, form, async (parts) =>
    take(await readParts(parts, part, optionalPart)),
  );
  // `take` is done, so the picture no longer uses memory.
  request.releaseBody();
  return taken;
}

async function readParts(
  parts: AsyncIterable<Multipart>,
  part: string,
  optionalPart: string | undefined,
): Promise<Received<Buffer | null>> {
  const files: Record<string, Buffer> = {};
  const fields: Record<string, string> = {};
  for await (const value of parts) {
    if (value.type === 'field') {
      if (value.valueTruncated) throw invalidParam(value.fieldname, `${value.fieldname} is too long`);
      fields[value.fieldname] = String(value.value);
    } else {
      // OpenAI's clients use this name for a list of files, even if it has one file.
      const name = value.fieldname === `${part}[]` ? part : value.fieldname;
      if (name !== part && name !== optionalPart)
        throw invalidParam(name, `Unknown parameter: ${name.slice(0, 80)}`);
      if (files[name]) throw invalidParam(name, 'Send one picture per request');
      files[name] = await collectPicture(value.file, name);
    }
  }
  return { bytes: files[part] ?? null, second: files[optionalPart ?? ''] ?? null, fields };
}

/**
 * Collects the bytes of a streamed picture. Throws AppError with the field's name: 'payload_too_large' as
 * soon as the limit is exceeded, 'invalid_request' if the stream ends early.
 */
export async function collectPicture(
  pieces: AsyncIterable<Buffer>,
  param: string,
  bytesMax = PICTURE_BYTES_MAX,
): Promise<Buffer> {
  const collected: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > bytesMax) throw payloadTooLarge(pictureMessages.tooLarge, { param });
      collected.push(piece);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const publicMessage = 'The upload stopped before the picture was complete';
    throw invalidParam(param, publicMessage, error);
  }
  return Buffer.concat(collected);
}

/**
 * Loads and inspects a stored picture, and passes it to `work`. Throws BadPicture if the picture is not
 * accepted, and the errors of `withBlobFile` and `work`.
 */
export function withPicture<Result>(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string },
  work: (picture: InspectedPicture & { bytes: Buffer }) => Result | Promise<Result>,
): Promise<Result> {
  return withBlobFile(services, file, (localPath) =>
    places.run('', async () => {
      const bytes = await readFile(localPath);
      return work({ ...inspectPicture(bytes), bytes });
    }),
  );
}
