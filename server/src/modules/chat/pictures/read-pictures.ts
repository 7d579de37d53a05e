import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { CHAT_BYTES_MAX } from '@bakehouse/contract/chat';
import {
  CHAT_PICTURE_BYTES_MAX,
  CHAT_PICTURE_PIXELS_MAX,
  CHAT_PICTURES_ENCODED_MAX,
  CHAT_PICTURES_MAX,
} from '@bakehouse/contract/chat-pictures';
import type { Context } from '../../../platform/context.ts';
import { AppError, invalidParam, payloadTooLarge } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { BadPicture, type InspectedPicture, inspectPicture } from '../../media/inspect-picture.ts';
import { readPictureAddress } from '../../media/read-picture-address.ts';
import type { CompletionBody } from '../body/completion-request.ts';
import {
  type ChatPicture,
  type ChatPictures,
  findPictures,
  type Message,
  type Part,
  tokensOf,
} from './chat-pictures.ts';
import type { PictureRoom } from './held-pictures.ts';

type Model = Pick<Upstream, 'model_name' | 'engine' | 'vision'>;

const MB = 1024 * 1024;

/**
 * Reads the pictures of a chat and replaces them by short references, so that counting, comparing and
 * checking the conversation does not handle megabytes. The pictures are in the field `pictures`. Only their
 * headers are read: the model server decodes them. Reserves room for them before it reads them. Throws
 * AppError 'invalid_request' if the model cannot see, or a picture cannot be read, 'payload_too_large' and
 * 'rate_limited'.
 */
export async function withPictures(
  ctx: Context,
  body: CompletionBody,
  model: Model,
  { signal, room }: { signal: AbortSignal; room: PictureRoom },
): Promise<CompletionBody> {
  const messages = (body.messages ?? []) as Message[];
  const found = findPictures(messages);
  assertTextLength(body, withReferences(messages, new Map(found.map(({ part }) => [part, '']))));
  const [first] = found;
  if (!first) return body;
  if (!model.vision) {
    const remedy = 'Leave out pictures, or use a model with "vision": true in GET /v1/models';
    throw invalidParam(first.param, `${first.param}: ${model.model_name} cannot see pictures. ${remedy}`);
  }
  if (found.length > CHAT_PICTURES_MAX)
    throw invalidParam(
      'messages',
      `messages: at most ${CHAT_PICTURES_MAX} pictures per request, not ${found.length}. Leave out older ones`,
    );
  room.take(encodedMax(found.map(({ part }) => part.image_url.url)));
  const pictures: ChatPictures = {};
  const references = new Map<Part, string>();
  const left = { bytes: CHAT_PICTURE_BYTES_MAX, pixels: CHAT_PICTURE_PIXELS_MAX };
  for (const { part, param } of found) {
    const bytes = await readBytes(ctx, part.image_url.url, { param, signal, bytesMax: left.bytes });
    const inspected = inspect(bytes, model, param);
    left.bytes -= bytes.length;
    left.pixels -= inspected.width * inspected.height;
    if (left.pixels < 0) throw tooLarge(param, `${CHAT_PICTURE_PIXELS_MAX / 1e6} megapixels`);
    const reference = createHash('sha256').update(bytes).digest('hex');
    references.set(part, reference);
    pictures[reference] ??= toPicture(bytes, inspected);
  }
  room.take(Object.values(pictures).reduce((sum, { url }) => sum + url.length, 0));
  return { ...body, messages: withReferences(messages, references), pictures };
}

/** Returns the maximum characters of the pictures at these addresses. Only `data:` URLs show their size. */
function encodedMax(addresses: string[]): number {
  const sizes = addresses.map((one) => (one.startsWith('data:') ? one.length : CHAT_PICTURES_ENCODED_MAX));
  return Math.min(
    CHAT_PICTURES_ENCODED_MAX,
    sizes.reduce((sum, size) => sum + size, 0),
  );
}

/** A body may be large because of its pictures. The rest of it is parsed and compared as text. */
function assertTextLength({ tools }: CompletionBody, messages: Message[]): void {
  if (JSON.stringify([messages, tools]).length <= CHAT_BYTES_MAX) return;
  throw payloadTooLarge(`messages: at most ${CHAT_BYTES_MAX / MB} MB of text. Shorten the conversation`, {
    param: 'messages',
  });
}

type Wanted = { param: string; signal: AbortSignal; bytesMax: number };

async function readBytes(
  ctx: Context,
  address: string,
  { param, signal, bytesMax }: Wanted,
): Promise<Buffer> {
  const allTooLarge = (cause?: unknown) => tooLarge(param, `${CHAT_PICTURE_BYTES_MAX / MB} MB`, cause);
  const found = await readPictureAddress(ctx, address, { param, signal, bytesMax }).catch(
    (error: unknown) => {
      throw error instanceof AppError && error.code === 'payload_too_large' ? allTooLarge(error) : error;
    },
  );
  if (!Buffer.isBuffer(found) && found.sizeBytes > bytesMax) throw allTooLarge();
  return Buffer.isBuffer(found) ? found : buffer(await readBlob(ctx, found));
}

function tooLarge(param: string, limit: string, cause?: unknown): Error {
  const publicMessage = `${param}: all pictures of a request have at most ${limit}. Send smaller or fewer ones`;
  return payloadTooLarge(publicMessage, { param, cause });
}

function inspect(bytes: Buffer, { engine }: Model, param: string): InspectedPicture {
  try {
    const inspected = inspectPicture(bytes);
    // Its decoder does not know the format.
    if (engine === 'llamacpp' && inspected.mediaType === 'image/webp')
      throw new BadPicture('Models on CPUs read PNG and JPEG, not WebP');
    return inspected;
  } catch (error) {
    if (!(error instanceof BadPicture)) throw error;
    throw invalidParam(param, `${param}: ${error.message}`, error);
  }
}

function toPicture(bytes: Buffer, { mediaType, width, height }: InspectedPicture): ChatPicture {
  return {
    url: `data:${mediaType};base64,${bytes.toString('base64')}`,
    tokensMax: tokensOf({ width, height }),
  };
}

function withReferences(messages: Message[], references: Map<Part, string>): Message[] {
  return messages.map(({ content, ...rest }) => ({
    ...rest,
    content: Array.isArray(content)
      ? content.map((part) => {
          const url = references.get(part);
          return url === undefined ? part : { type: 'image_url', image_url: { url } };
        })
      : content,
  }));
}
