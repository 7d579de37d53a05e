/** A piece of a call, as OpenAI streams it: the first of a call has its name. */
export type CallPiece = { index: number; name?: string; arguments: string };

/** What an answer of `callsSchema` says before the arguments of a call: what closes the one before, too. */
const BEGIN = /^[\s[,\]}]*\{\s*"name"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*/;

/**
 * Reads calls out of an answer that is bound by `callsSchema`, as it comes: the arguments of a call go on while they
 * are written.
 */
export class RequiredCalls {
  private before = '';
  private index = -1;
  private depth = 0;
  private isInArguments = false;
  private isInText = false;
  private isEscaped = false;

  /** Takes the next piece of the answer; returns what it says of calls. */
  push(text: string): CallPiece[] {
    const pieces: CallPiece[] = [];
    let rest = text;
    while (rest !== '') {
      if (!this.isInArguments) {
        this.before += rest;
        const begin = BEGIN.exec(this.before);
        // Without a character of the arguments nobody knows whether all of the space before has come.
        if (!begin || begin[0].length === this.before.length) return pieces;
        rest = this.before.slice(begin[0].length);
        Object.assign(this, { before: '', index: this.index + 1, isInArguments: true, depth: 0 });
        pieces.push({ index: this.index, name: begin[1] ?? '', arguments: '' });
      }
      const end = this.endOf(rest);
      pieces.push({ index: this.index, arguments: rest.slice(0, end) });
      rest = rest.slice(end);
    }
    return pieces;
  }

  /** How many calls have begun. */
  get calls(): number {
    return this.index + 1;
  }

  /** Where the arguments end, which are an object; the end of the text where they go on. */
  private endOf(text: string): number {
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at];
      if (this.isEscaped) this.isEscaped = false;
      else if (this.isInText && char === '\\') this.isEscaped = true;
      else if (char === '"') this.isInText = !this.isInText;
      else if (this.isInText) continue;
      else if (char === '{' || char === '[') this.depth += 1;
      else if (char === '}' || char === ']') {
        this.depth -= 1;
        if (this.depth === 0) {
          this.isInArguments = false;
          return at + 1;
        }
      }
    }
    return text.length;
  }
}
