import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { CHAT_BYTES_MAX } from '@bakehouse/contract/chat';
import {
  CHAT_PICTURE_BYTES_MAX,
  CHAT_PICTURE_PIXELS_MAX,
  CHAT_PICTURES_MAX,
} from '@bakehouse/contract/chat-pictures';
import type { Context } from '../../../platform/context.ts';
import { invalidParam, payloadTooLarge } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { BadPicture, type InspectedPicture, inspectPicture } from '../../media/inspect-picture.ts';
import { readPictureAddress } from '../../media/read-picture-address.ts';
import type { CompletionBody } from '../body/completion-request.ts';

/** A picture as the model server gets it, and the most tokens that it may have. */
type ChatPicture = { url: string; tokensMax: number };

/** The pictures of a chat, by the reference in its messages. */
export type ChatPictures = Record<string, ChatPicture>;

type Part = { type: string; image_url?: { url: string }; at?: string };
type Message = { content?: string | Part[] | null };
type Model = Pick<Upstream, 'model_name' | 'engine' | 'vision'>;
type Found = { part: Part & { image_url: { url: string } }; param: string };

/** Side in pixels of the smallest patch that vision models read as a token. */
const PATCH_SIDE = 14;
/** Models that scale every picture to one size, or cut it into tiles, have at most this many tokens. */
const SCALED_TOKENS = 4096;
const MB = 1024 * 1024;

/**
 * Reads the pictures of a chat and replaces them by short references, so that counting, comparing and
 * checking the conversation does not handle megabytes. The pictures are in the field `pictures`. Only their
 * headers are read: the model server decodes them. Throws AppError 'invalid_request' if the model cannot see,
 * or a picture cannot be read, and 'payload_too_large'.
 */
export async function withPictures(
  ctx: Context,
  body: CompletionBody,
  model: Model,
  signal: AbortSignal,
): Promise<CompletionBody> {
  const found = findPictures(body);
  assertTextLength(body, found);
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
  return { ...body, messages: withReferences(body.messages as Message[], references), pictures };
}

function findPictures({ messages = [] }: CompletionBody): Found[] {
  return (messages as Message[]).flatMap(({ content }, index) =>
    (Array.isArray(content) ? content : []).flatMap((part, at) =>
      isPicture(part) ? [{ part, param: `messages.${index}.content.${part.at ?? at}` }] : [],
    ),
  );
}

function isPicture(part: Part): part is Found['part'] {
  return part.type === 'image_url' && part.image_url !== undefined;
}

/** A body may be large because of its pictures. The rest of it is parsed and compared as text. */
function assertTextLength(body: CompletionBody, found: Found[]): void {
  const pictures = found.reduce((sum, { part }) => sum + part.image_url.url.length, 0);
  if (JSON.stringify([body.messages, body.tools]).length - pictures <= CHAT_BYTES_MAX) return;
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
  const found = await readPictureAddress(ctx, address, { param, signal });
  const size = Buffer.isBuffer(found) ? found.length : found.sizeBytes;
  if (size > bytesMax) throw tooLarge(param, `${CHAT_PICTURE_BYTES_MAX / MB} MB`);
  return Buffer.isBuffer(found) ? found : buffer(await readBlob(ctx, found));
}

function tooLarge(param: string, limit: string): Error {
  const publicMessage = `${param}: all pictures of a request have at most ${limit}. Send smaller or fewer ones`;
  return payloadTooLarge(publicMessage, { param });
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
  const patches = Math.ceil(width / PATCH_SIDE) * Math.ceil(height / PATCH_SIDE);
  return {
    url: `data:${mediaType};base64,${bytes.toString('base64')}`,
    tokensMax: Math.max(SCALED_TOKENS, patches),
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

/** Returns the maximum number of tokens of all pictures of a chat. */
export function pictureTokensMax({ pictures, messages }: Record<string, unknown>): number {
  const known = (pictures ?? {}) as ChatPictures;
  const all = Object.keys(known).length === 0 ? [] : findPictures({ model: '', messages });
  return all.reduce((sum, { part }) => sum + (known[part.image_url.url]?.tokensMax ?? 0), 0);
}

/** Returns the part for the model server: a picture's reference is replaced by the picture. */
export function toServerPart(part: object, pictures: ChatPictures): object {
  const { image_url: picture } = part as Part;
  const url = picture && pictures[picture.url]?.url;
  return url === undefined ? part : { type: 'image_url', image_url: { url } };
}
