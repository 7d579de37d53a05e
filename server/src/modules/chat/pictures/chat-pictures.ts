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

/** Returns the maximum number of tokens of all pictures of a chat. */
export function pictureTokensMax({ pictures, messages }: Record<string, unknown>): number {
  const known = (pictures ?? {}) as ChatPictures;
  const all = Object.keys(known).length === 0 ? [] : findPictures((messages ?? []) as Message[]);
  return all.reduce((sum, { part }) => sum + (known[part.image_url.url]?.tokensMax ?? 0), 0);
}

/** Returns the part for the model server: a picture's reference is replaced by the picture. */
export function toServerPart(part: object, pictures: ChatPictures): object {
  const { image_url: picture } = part as Part;
  const url = picture && pictures[picture.url]?.url;
  return url === undefined ? part : { type: 'image_url', image_url: { url } };
}
