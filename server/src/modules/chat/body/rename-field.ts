import { AppError } from '../../../platform/errors.ts';

/** What a field of a chat is called in another call. */
export type FieldName = [ofChat: RegExp, name: string];

type Names = {
  names: FieldName[];
  /** The path of each of the chat's messages in the body. Left out: they are those of the body. */
  places?: string[];
  /** The field of the messages that stand nowhere. */
  rest?: string;
  /** The path of each of the chat's tools in the body. */
  toolPlaces?: string[] | undefined;
};

/** The same error about the field that was sent, where a call is answered as a chat. */
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
