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

/** Slower uploads are aborted because they block a slot. Any allowed picture fits in with 1.5 Mbit/s. */
const WHOLE_MS = 2 * 60_000;

// One file more than allowed, so that the error can name it.
const limits = { fileSize: PICTURE_BYTES_MAX + 1, files: 2, fields: 20, fieldSize: 64 * 1024 };

/** Limits pictures loaded whole by this process: checking takes milliseconds, but each may have 20 MB. */
const places = fairQueue(2);

type Received<Bytes = Buffer> = { bytes: Bytes; fields: Record<string, string> };

type Options = { stallMs?: number; wholeMs?: number };

/**
 * Passes a multipart request's picture and its other fields to `take` and returns the result. Stores nothing:
 * `take` stores the picture once the other fields are valid too. Throws AppError with the name of an invalid
 * part, and whatever `receiveForm` throws.
 */
export async function receivePicture<Result>(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  take: (received: Received) => Promise<Result>,
  options: Options = {},
): Promise<Result> {
  const takeWhole = async ({ bytes, fields }: Received<Buffer | null>) => {
    if (!bytes) throw invalidParam(part, `Send the picture in a part named ${part}`);
    return take({ bytes, fields });
  };
  return receiveOptionalPicture(ctx, request, part, takeWhole, options);
}

/** Like `receivePicture`, but the picture is optional: `bytes` may be null. */
export async function receiveOptionalPicture<Result>(
  ctx: Context,
  request: FastifyRequest,
  part: string,
  take: (received: Received<Buffer | null>) => Promise<Result>,
  { stallMs, wholeMs = WHOLE_MS }: Options = {},
): Promise<Result> {
  const form = { part, limits, stallMs, wholeMs };
  const taken = await receiveForm(ctx, request, form, async (parts) => take(await readParts(parts, part)));
  // The bytes are no longer referenced.
  request.leaveBodyRoom();
  return taken;
}

async function readParts(parts: AsyncIterable<Multipart>, part: string): Promise<Received<Buffer | null>> {
  let bytes: Buffer | null = null;
  const fields: Record<string, string> = {};
  for await (const value of parts) {
    if (value.type === 'field') {
      if (value.valueTruncated) throw invalidParam(value.fieldname, `${value.fieldname} is too long`);
      fields[value.fieldname] = String(value.value);
    } else {
      // OpenAI's clients name a list of files like this, even a list of one.
      const name = value.fieldname === `${part}[]` ? part : value.fieldname;
      if (name !== part) throw invalidParam(name, `Unknown parameter: ${name.slice(0, 80)}`);
      if (bytes) throw invalidParam(part, 'Send one picture per request');
      bytes = await collectPicture(value.file, part);
    }
  }
  return { bytes, fields };
}

/**
 * Collects the bytes of a streamed picture. Throws AppError with the field name: 'payload_too_large' as soon
 * as the limit is exceeded, 'invalid_request' if the stream breaks off.
 */
export async function collectPicture(pieces: AsyncIterable<Buffer>, param: string): Promise<Buffer> {
  const collected: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > PICTURE_BYTES_MAX) throw payloadTooLarge(pictureMessages.tooLarge, { param });
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
 * Runs `work` with a stored picture, loaded whole and inspected. Throws BadPicture if it is not accepted, and
 * whatever `withBlobFile` and `work` throw.
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
