import { AppError } from '../../../platform/errors.ts';

/** What a field of a chat is called in another call. */
export type FieldName = [ofChat: RegExp, name: string];

type Names = {
  names: FieldName[];
  /** Where each of the chat's messages stands in what was sent. */
  places: string[];
  /** What the messages are of that stand nowhere. */
  rest: string;
};

/** The same error about the field that was sent, where a call is answered as a chat. */
export function renameField(error: unknown, { names, places, rest }: Names): unknown {
  if (!(error instanceof AppError) || error.param === null) return error;
  const { param, publicMessage } = error;
  const [, index, below = ''] = /^messages\.(\d+)(.*)$/.exec(param) ?? [];
  const [from, to] = names.find(([ofChat]) => ofChat.test(param)) ?? [/^$/, ''];
  const name = index === undefined ? param.replace(from, to) : (places[Number(index)] ?? rest) + below;
  return new AppError(error.code, {
    publicMessage: publicMessage.replaceAll(param, name),
    param: name,
    data: error.data,
    cause: error.cause,
    shouldRetry: error.shouldRetry,
    ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
  });
}
