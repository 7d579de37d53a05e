/** Rows cannot be shown of a file: the sentence that its owner reads, and the parameter that it is about. */
export class Unreadable extends Error {
  readonly param: 'path' | 'offset' | 'filters' | 'column';

  constructor(sentence: string, options: { param?: Unreadable['param']; cause?: unknown } = {}) {
    super(sentence, { cause: options.cause });
    this.param = options.param ?? 'path';
  }
}

/** Whether a look at a text file has ended because it had read too much of it. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof Unreadable && error.param === 'offset';
}
