import { AppError } from '../../../platform/errors.ts';

/** Maps a field of the chat to its name in another endpoint. */
export type FieldName = [ofChat: RegExp, name: string];

type Names = {
  names: FieldName[];
  /** The path of each chat message in the body. Defaults to the same path. */
  places?: string[];
  /** The field for messages without a path. */
  rest?: string;
  /** The path of each of the chat's tools in the body. */
  toolPlaces?: string[] | undefined;
};

/** Returns the error with the sent field's name, for endpoints that are answered as a chat. */
export function renameField(error: unknown, { names, places, rest, toolPlaces }: Names): unknown {
  if (!(error instanceof AppError) || error.param === null) return error;
  const { param, publicMessage } = error;
  const sent = param.replace(/^tools\.(\d+)/, (same, index) => toolPlaces?.[Number(index)] ?? same);
  const [, index, below = ''] = /^messages\.(\d+)(.*)$/.exec(param) ?? [];
  const [from, to] = names.find(([ofChat]) => ofChat.test(sent)) ?? [/^$/, ''];
  const name =
    index === undefined || !places ? sent.replace(from, to) : (places[Number(index)] ?? rest) + below;
  return new AppError(error.code, {
    publicMessage: publicMessage.replaceAll(param, name),
    param: name,
    data: error.data,
    cause: error.cause,
    shouldRetry: error.shouldRetry,
    ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
  });
}
