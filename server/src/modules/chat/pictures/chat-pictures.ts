import { CHAT_PICTURE_PIXELS_MAX } from '@bakehouse/contract/chat-pictures';

/** Side in pixels of the smallest patch that vision models read as a token. */
const PATCH_SIDE = 14;
/** Models that scale every picture to one size, or cut it into tiles, have at most this many tokens. */
const SCALED_TOKENS = 8192;
/** A batch is quoted before its pictures are read. */
const UNREAD_TOKENS = Math.ceil(CHAT_PICTURE_PIXELS_MAX / PATCH_SIDE ** 2);

/** A picture as the model server gets it, and the most tokens that it may have. */
export type ChatPicture = { url: string; tokensMax: number };

/** The pictures of a chat, by the reference in its messages. */
export type ChatPictures = Record<string, ChatPicture>;

export type Part = { type: string; image_url?: { url: string }; at?: string };
export type Message = { content?: string | Part[] | null };
type Found = { part: Part & { image_url: { url: string } }; param: string };

/** Returns the pictures of messages, with their path in the client's body. */
export function findPictures(messages: Message[]): Found[] {
  return messages.flatMap(({ content }, index) =>
    (Array.isArray(content) ? content : []).flatMap((part, at) =>
      isPicture(part) ? [{ part, param: `messages.${index}.content.${part.at ?? at}` }] : [],
    ),
  );
}

function isPicture(part: Part): part is Found['part'] {
  return part.type === 'image_url' && part.image_url !== undefined;
}

/** Returns the maximum number of tokens of a picture. */
export function tokensOf({ width, height }: { width: number; height: number }): number {
  return Math.max(SCALED_TOKENS, Math.ceil(width / PATCH_SIDE) * Math.ceil(height / PATCH_SIDE));
}

/** Returns the maximum number of tokens of all pictures of a chat, read or not. */
export function pictureTokensMax({ pictures, messages }: Record<string, unknown>): number {
  const known = (pictures ?? {}) as ChatPictures;
  return findPictures((messages ?? []) as Message[]).reduce(
    (sum, { part }) => sum + (known[part.image_url.url]?.tokensMax ?? UNREAD_TOKENS),
    0,
  );
}

/** Returns the part for the model server: a picture's reference is replaced by the picture. */
export function toServerPart(part: object, pictures: ChatPictures): object {
  const given = part as Part;
  const url = isPicture(given) ? pictures[given.image_url.url]?.url : undefined;
  return url === undefined ? part : { type: 'image_url', image_url: { url } };
}
