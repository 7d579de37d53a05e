import type { DataFormatName } from '@bakehouse/contract/limits';
import type { dataFormat } from '@bakehouse/contract/runtime/train-spec';
import type * as z from 'zod';
import { dialogueKeys, toTurns } from './conversation.ts';

/** Rows that are looked at. */
export const SNIFFED_ROWS = 20;

type DataFormat = z.infer<typeof dataFormat>;

const SYSTEM = ['system', 'system_prompt'];
/** How conversations are called where several columns hold one. */
const DIALOGUE_NAMES = ['messages', 'conversations', 'conversation'];
/** How public datasets call what is asked and what is answered, the plainest first. */
const PAIRS = [
  ['question', 'answer'],
  ['prompt', 'completion'],
  ['prompt', 'response'],
  ['query', 'response'],
  ['input', 'output'],
] as const;
/** Of preferences there are two conversations: one of them would be learnt by chance. */
const PREFERENCES = ['chosen', 'rejected'];
/** What may stand beside a text and says nothing that a model should learn. */
const ABOUT_TEXT = new RegExp(
  '^((.*_)?(id|idx|index|url|uri|path|score|count|date|time|at|hash)|row|source|link|timestamp' +
    '|title|author|lang|language|license|domain|subset|split|file|file_?name|dump|tags|length' +
    '|meta.*|__.*)$',
);

/**
 * The format of a file with these columns, by their names and by its first rows; null where nobody
 * could say. The runtime recognises the same, `data/formats.py`; `fixtures/recognise-alike.json`
 * holds both to it.
 */
export function recogniseFormat(columns: string[], rows: unknown[][]): DataFormat | null {
  const find = (...names: string[]) => findColumn(columns, names);
  const system = find(...SYSTEM) ?? null;
  const of = (format: DataFormatName, input = '', output = ''): DataFormat => ({
    format,
    input_column: input,
    output_column: output,
    system_column: format === 'text' ? null : system,
  });
  for (const format of ['messages', 'sharegpt'] as const) {
    const column = dialogueColumn(columns, rows, dialogueKeys[format]);
    if (column !== undefined && !findColumn([column], PREFERENCES)) return of(format, column);
  }
  if (find('instruction') !== undefined && find('output', 'response') !== undefined) return of('alpaca');
  for (const [asked, answered] of PAIRS) {
    const [question, answer] = [find(asked), find(answered)];
    if (question !== undefined && answer !== undefined) return of('prompt_completion', question, answer);
  }
  const text = find('text', 'content') ?? onlyText(columns, rows);
  const isText = columns.every((column) => column === text || ABOUT_TEXT.test(column.trim().toLowerCase()));
  return text !== undefined && isText ? of('text', text) : null;
}

/** The first of these columns, whatever its case. */
function findColumn(columns: string[], names: string[]): string | undefined {
  for (const name of names) {
    const found = columns.find((column) => column.trim().toLowerCase() === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The one column with conversations, or that of them which is called so. */
function dialogueColumn(
  columns: string[],
  rows: unknown[][],
  keys: readonly [string, string],
): string | undefined {
  const found = columns.filter((_, at) =>
    rows.some((row) => {
      const [first] = toTurns(row[at]) ?? [];
      return typeof first === 'object' && first !== null && keys.every((key) => key in first);
    }),
  );
  return findColumn(found, DIALOGUE_NAMES) ?? (found.length === 1 ? found[0] : undefined);
}

function onlyText(columns: string[], rows: unknown[][]): string | undefined {
  return columns.length === 1 && rows.some(([value]) => typeof value === 'string') ? columns[0] : undefined;
}
