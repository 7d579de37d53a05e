import { CALL_MARK } from '../grammar/build-grammar.ts';

/** A piece of a call, as OpenAI streams it: the first of a call has its name. */
export type CallPiece = { index: number; name?: string; arguments: string };

/** What an answer says before the arguments of a call: what closes the one before, too. */
const BEGIN = /^(?:[\s[,\]}]|<\/?tool_call>)*\{\s*"name"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*/;

/**
 * Reads calls out of an answer that a grammar binds to calls, as it comes: the arguments of a call go on while they
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

/** How much of a mark may have come, the longest first. */
const lengths = Array.from({ length: CALL_MARK.length - 1 }, (_, index) => CALL_MARK.length - 1 - index);

/** Reads an answer that may be a call, or end with calls, each of which a mark announces. */
export class MarkedCalls {
  private held = '';
  private isCalling = false;
  private readonly required = new RequiredCalls();

  push(piece: string): { content: string; calls: CallPiece[] } {
    if (this.isCalling) return { content: '', calls: this.required.push(piece) };
    this.held += piece;
    const at = this.held.indexOf(CALL_MARK);
    if (at < 0) {
      // The mark may have begun, and the space before it is no part of the answer.
      const begun = lengths.find((length) => this.held.endsWith(CALL_MARK.slice(0, length))) ?? 0;
      const text = this.held.slice(0, this.held.length - begun).trimEnd();
      return { content: this.take(text.length), calls: [] };
    }
    this.isCalling = true;
    const content = this.take(at);
    return { content: content.trimEnd(), calls: this.required.push(this.take(this.held.length)) };
  }

  /** What was held back of an answer that has ended. */
  end(): string {
    return this.take(this.held.length);
  }

  get calls(): number {
    return this.required.calls;
  }

  private take(length: number): string {
    const taken = this.held.slice(0, length);
    this.held = this.held.slice(length);
    return taken;
  }
}
