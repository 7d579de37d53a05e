/**
 * A file's rows cannot be shown. Carries a message for the user and the request parameter that it concerns.
 */
export class Unreadable extends Error {
  readonly param: 'path' | 'offset' | 'filters' | 'column';

  constructor(sentence: string, options: { param?: Unreadable['param']; cause?: unknown } = {}) {
    super(sentence, { cause: options.cause });
    this.param = options.param ?? 'path';
  }
}

/** True if the error is a text file's read limit. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof Unreadable && error.param === 'offset';
}
