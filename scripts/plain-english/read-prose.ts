import { parseSync } from 'oxc-parser';

export const kinds = ['comments', 'test titles', 'docs'] as const;
export type Kind = (typeof kinds)[number];
export type Prose = { kind: Kind; line: number; text: string };

/** Reads the comments and test titles of a source file, or the sentences of a page. */
export function readProse(path: string, source: string): Prose[] {
  if (/\.tsx?$/.test(path)) return readTypeScript(path, source);
  if (path.endsWith('.py')) return readPython(source);
  if (path.endsWith('.md')) return readPage(source);
  return joinLines(source, path.endsWith('.sql') ? /^\s*--\s?(.*)/ : hashComment);
}

const hashComment = /^\s*#(?!!)\s?(.*)/;

/** Matches the first argument of a test call, also of one after the table of `test.each`. */
const titlePattern =
  /(?:\b(?:test|it|describe|journey|soakJourney)(?:\.\w+)*(?:\([^()]*\))?|^\s*\]?\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])+)\1/gm;

function readTypeScript(path: string, source: string): Prose[] {
  const lineAt = lineCounter(source);
  const comments: Prose[] = [];
  for (const { type, value, start, end } of parseSync(path, source).comments) {
    const line = lineAt(start);
    const text = tidy(value.replaceAll(/^\s*\*/gm, ''));
    const previous = comments.at(-1);
    if (type === 'Line' && previous && /^\s*$/.test(source.slice(ends.get(previous), start)))
      previous.text += ` ${text}`;
    else comments.push({ kind: 'comments', line, text });
    const current = comments.at(-1);
    if (current) ends.set(current, end);
  }
  if (!/\.test\.tsx?$/.test(path)) return comments;
  const titles = [...source.matchAll(titlePattern)].map(
    ({ index, 2: text = '' }): Prose => ({ kind: 'test titles', line: lineAt(index), text }),
  );
  return [...comments, ...titles];
}

/** End of each comment in the file, to join consecutive line comments. */
const ends = new WeakMap<Prose, number>();

function readPython(source: string): Prose[] {
  const lineAt = lineCounter(source);
  const docstrings = [...source.matchAll(/^\s*(?:r)?"""([\s\S]*?)"""/gm)].map(
    ({ index, 1: text = '' }): Prose => ({ kind: 'comments', line: lineAt(index), text: tidy(text) }),
  );
  const titles = [...source.matchAll(/^\s*(?:async )?def test_(\w+)/gm)].map(
    ({ index, 1: name = '' }): Prose => ({
      kind: 'test titles',
      line: lineAt(index),
      text: name.replaceAll('_', ' '),
    }),
  );
  return [...joinLines(source, hashComment), ...docstrings, ...titles];
}

/** Returns one comment for each group of consecutive comment lines. */
function joinLines(source: string, comment: RegExp): Prose[] {
  const found: Prose[] = [];
  let last = -1;
  for (const [index, line] of source.split('\n').entries()) {
    const text = line.match(comment)?.[1];
    if (text === undefined) continue;
    const previous = found.at(-1);
    if (previous && last === index - 1) previous.text += ` ${tidy(text)}`;
    else found.push({ kind: 'comments', line: index + 1, text: tidy(text) });
    last = index;
  }
  return found;
}

function readPage(source: string): Prose[] {
  const lineAt = lineCounter(source);
  const prose = source.replaceAll(/^```[\s\S]*?^```/gm, (code) => code.replaceAll(/[^\n]/g, ' '));
  return [...prose.matchAll(/[^\s|#>][^|\n]*?(?:[.!?:](?=\s|$)|(?=[|\n])|$)/g)].map(({ index, 0: text }) => ({
    kind: 'docs',
    line: lineAt(index),
    text: tidy(text),
  }));
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [0];
  for (const { index } of source.matchAll(/\n/g)) starts.push(index + 1);
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

function tidy(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
