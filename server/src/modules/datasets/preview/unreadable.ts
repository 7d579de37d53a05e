/** Rows cannot be shown of a file: the sentence that its owner reads, and the parameter that it is about. */
export class Unreadable extends Error {
  readonly param: 'path' | 'offset' | 'filters' | 'column';

  constructor(sentence: string, options: { param?: Unreadable['param']; cause?: unknown } = {}) {
    super(sentence, { cause: options.cause });
    this.param = options.param ?? 'path';
  }
}
