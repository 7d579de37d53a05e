import { CALL_MARK } from '../grammar/build-grammar.ts';

/** A piece of a call in OpenAI's stream. The first piece contains the function's name. */
export type CallPiece = { index: number; name?: string; arguments: string };

/** Matches the text between two calls, up to the start of a call's arguments. */
const BEGIN = /^(?:[\s[,\]}]|<\/?tool_call>)*\{\s*"name"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*/;

/** Parses calls from the stream of an answer that a grammar limits to calls. */
export class RequiredCalls {
  private before = '';
  private index = -1;
  private depth = 0;
  private isInArguments = false;
  private isInText = false;
  private isEscaped = false;

  /** Adds the next piece of the answer. Returns the pieces of calls that it completes. */
  push(text: string): CallPiece[] {
    const pieces: CallPiece[] = [];
    let rest = text;
    while (rest !== '') {
      if (!this.isInArguments) {
        this.before += rest;
        const begin = BEGIN.exec(this.before);
        // More spaces may follow until the first character of the arguments arrives.
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

  /** The number of calls that have started. */
  get calls(): number {
    return this.index + 1;
  }

  /**
   * Returns the index after the end of the arguments object, or the length of the text if the object
   * continues.
   */
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

/** Possible lengths of a mark that was only partly received, longest first. */
const lengths = Array.from({ length: CALL_MARK.length - 1 }, (_, index) => CALL_MARK.length - 1 - index);

/** Parses an answer whose text may be followed by calls. A mark precedes each call. */
export class MarkedCalls {
  private held = '';
  private isCalling = false;
  private readonly required = new RequiredCalls();

  push(piece: string): { content: string; calls: CallPiece[] } {
    if (this.isCalling) return { content: '', calls: this.required.push(piece) };
    this.held += piece;
    const at = this.held.indexOf(CALL_MARK);
    if (at < 0) {
      // The text may end with a part of a mark. Hold it back, and the space before it, which does not belong
      // to the answer.
      const begun = lengths.find((length) => this.held.endsWith(CALL_MARK.slice(0, length))) ?? 0;
      const text = this.held.slice(0, this.held.length - begun).trimEnd();
      return { content: this.takeText(text.length), calls: [] };
    }
    this.isCalling = true;
    const content = this.takeText(at);
    return { content: content.trimEnd(), calls: this.required.push(this.takeText(this.held.length)) };
  }

  /** Returns the text that is still held back when the answer ends. */
  end(): string {
    return this.takeText(this.held.length);
  }

  get calls(): number {
    return this.required.calls;
  }

  private takeText(length: number): string {
    const taken = this.held.slice(0, length);
    this.held = this.held.slice(length);
    return taken;
  }
}
