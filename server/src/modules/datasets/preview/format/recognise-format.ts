import type { DataFormatName } from '@bakehouse/contract/limits';
import type { dataFormat } from '@bakehouse/contract/runtime/train-spec';
import type * as z from 'zod';
import { dialogueKeys, toTurns } from '../conversation.ts';
import { strip } from '../table.ts';
import {
  ANSWER,
  BAD,
  BESIDE_PROMPTS,
  CHOICES,
  DIALOGUE,
  FEEDBACK,
  GOOD,
  HISTORY,
  INSTRUCTION,
  NATURAL_INSTRUCTIONS,
  PAIRS,
  PREFERENCE,
  PREFERENCES,
  PROMPTS,
  QUESTION,
  REFERENCE,
  SYSTEM,
  TEXT,
} from './column-roles.ts';

/** Rows examined to recognise the format. */
export const SNIFFED_ROWS = 20;

type DataFormat = z.infer<typeof dataFormat>;

/** Metadata columns to ignore next to a text column. */
const ABOUT_TEXT = new RegExp(
  '^((.*_)?(id|idx|index|url|uri|path|score|count|date|time|at|hash)|row|source|link|timestamp' +
    '|title|author|lang|language|license|domain|subset|split|file|file_?name|dump|tags|length' +
    '|meta.*|__.*)$',
);

/** How an answer refers to a choice: a number or a letter. */
const POINTER = /^\(?([0-9](?:\.0)?|[A-Ha-h])[).]?$/;
/** Delimiters of other formats, which a single column name does not contain. */
const PARTED = /[,;|\t^~]|\S {2,}\S|\w\s*-?[#:<>=@*/\\]+\s*\w/;
const NAME_WORDS_MAX = 6;
const SENTENCE_END = /[.!?]["')\]]?\s*$/;
/** Start or end of a list or object serialised as text; its lines may have been split. */
const STRUCTURE = /^(?:array\()?[[{]\s*[[{"']|(?:[}\]"']\s*[\]}]|dtype=object\))[,)]*$/;
const AROUND = ' \t\r\n"';
/** Distinguishes a prompt from the name of a machine, type or version. */
const PROMPT = /\S\s+(?:\S+\s+\S|[a-z])|[.!?:]$|\b[Yy]ou\b|[^\0-\x7f]/;

/**
 * Recognises the format of a file by its column names and first rows; `broken` is the number of unreadable
 * first rows. Null if unknown. Keep in step with the runtime's `data/formats.py`;
 * `fixtures/recognise-alike.json` and `fixtures/layouts.json` test both.
 */
export function recogniseFormat(columns: string[], rows: unknown[][], broken = 0): DataFormat | null {
  return (
    recogniseFeedback(columns, rows, broken) ??
    recognisePrompts(columns, rows) ??
    recogniseAnswers(columns, rows, broken)
  );
}

/** Prompts alone or with reference answers, if no column may hold an answer. */
function recognisePrompts(columns: string[], rows: unknown[][]): DataFormat | null {
  const question = findColumn(columns, PROMPTS);
  const reference = findColumn(columns, REFERENCE);
  const beside = BESIDE_PROMPTS.map((name) => findColumn(columns, [name]));
  const isKnown = (column: string) =>
    [question, reference, ...beside].includes(column) || ABOUT_TEXT.test(column.trim().toLowerCase());
  if (question === undefined || !columns.every(isKnown)) return null;
  const questionAt = columns.indexOf(question);
  if (rows.some((row) => isTree(row[questionAt]))) return null;
  return {
    format: 'prompts',
    input_column: question,
    output_column: reference ?? '',
    rejected_column: null,
    label_column: null,
    system_column: systemColumn(columns, rows) ?? null,
  };
}

/** True for a message with replies, as in OpenAssistant's trees. */
function isTree(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'replies' in value;
}

/** Answers with a column that rates some of the first ones good and others bad. */
function recogniseFeedback(columns: string[], rows: unknown[][], broken: number): DataFormat | null {
  const label = FEEDBACK.flatMap((name) => findColumn(columns, [name]) ?? []).find((name) => {
    const at = columns.indexOf(name);
    return rates(rows.map((row) => row[at]));
  });
  if (label === undefined) return null;
  const labelAt = columns.indexOf(label);
  const others = columns.filter((_, at) => at !== labelAt);
  const found = recogniseAnswers(
    others,
    rows.map((row) => row.filter((_, at) => at !== labelAt)),
    broken,
  );
  if (!found || found.format === 'text' || found.format === 'preference') return null;
  const rated = { ...found, format: 'feedback' as const, label_column: label };
  if (found.format === 'prompt_completion') return rated;
  if (found.format !== 'alpaca') return { ...rated, input_column: '', output_column: found.input_column };
  const [question, answer] = [INSTRUCTION, ANSWER].map((names) => findColumn(others, names) ?? '');
  return { ...rated, input_column: question ?? '', output_column: answer ?? '' };
}

/** Placeholder for a list or an object. */
const NO_RATING = '[]';

/** True if every value is a rating and both polarities occur. */
function rates(values: unknown[]): boolean {
  const said = values.flatMap((value) => {
    if (value === null || value === undefined) return [];
    const text = plainText(value);
    return text === '' ? [] : [text?.toLowerCase() ?? NO_RATING];
  });
  return (
    said.every((text) => GOOD.includes(text) || BAD.includes(text)) &&
    said.some((text) => GOOD.includes(text)) &&
    said.some((text) => BAD.includes(text))
  );
}

/** Recognises the format of a file with unrated answers. */
function recogniseAnswers(columns: string[], rows: unknown[][], broken: number): DataFormat | null {
  const find = (...names: string[]) => findColumn(columns, names);
  const system = systemColumn(columns, rows) ?? null;
  const of = (
    format: DataFormatName,
    input = '',
    output = '',
    rejected: string | null = null,
  ): DataFormat => ({
    format,
    input_column: input,
    output_column: output,
    rejected_column: rejected,
    label_column: null,
    system_column: format === 'text' ? null : system,
  });
  for (const format of ['messages', 'sharegpt'] as const) {
    const column = dialogueColumn(columns, rows, dialogueKeys[format]);
    if (column !== undefined && !isPart(column, columns)) return of(format, column);
  }
  const preference = preferenceColumns(columns);
  if (preference && (preference.question || holdsQuestion(preference, columns, rows))) {
    return of('preference', preference.question, preference.better, preference.worse);
  }
  if (find(...INSTRUCTION) !== undefined && find(...ANSWER) !== undefined) return of('alpaca');
  for (const [asked, answered] of PAIRS) {
    const [question, answer] = [find(asked), find(answered)];
    if (question === undefined || answer === undefined) continue;
    return pointsAtChoices(columns, rows, answer) ? null : of('prompt_completion', question, answer);
  }
  const text = find(...TEXT) ?? onlyText(columns, rows);
  const isPlain = text !== undefined && rows.length >= broken && isPlainText(columns, rows, text);
  return isPlain ? of('text', text) : null;
}

/** True if a conversation column is only one of several columns that a row needs. */
function isPart(column: string, columns: string[]): boolean {
  const others = hasPair(columns) ? [...PREFERENCE, ...HISTORY] : PREFERENCE;
  return findColumn([column], others) !== undefined || preferenceColumns(columns) !== null;
}

type Preference = { question: string; better: string; worse: string };

/**
 * Returns the columns of the question (empty if there is none), the preferred answer and the rejected answer.
 */
function preferenceColumns(columns: string[]): Preference | null {
  for (const names of PREFERENCES) {
    const [better, worse] = names.map((name) => findColumn(columns, [name]));
    if (better === undefined || worse === undefined) continue;
    const question = findColumn(columns, [...INSTRUCTION, ...QUESTION, ...DIALOGUE]) ?? '';
    return { question, better, worse };
  }
  return null;
}

/** True if both answers are conversations, which include the question. */
function holdsQuestion({ better, worse }: Preference, columns: string[], rows: unknown[][]): boolean {
  return [better, worse].every((column) => {
    const values = rows.map((row) => row[columns.indexOf(column)]);
    return Object.values(dialogueKeys).some((keys) => holdsDialogues(values, keys));
  });
}

/** True if the question and its answer have separate columns. */
function hasPair(columns: string[]): boolean {
  const has = (names: readonly string[]) => findColumn(columns, names) !== undefined;
  return (
    (has(INSTRUCTION) && has(ANSWER)) || PAIRS.some(([asked, answered]) => has([asked]) && has([answered]))
  );
}

/** True if the answers are only numbers or letters of choices in another column. */
export function pointsAtChoices(columns: string[], rows: unknown[][], answer: string): boolean {
  const answers = plainTexts(columns, rows, answer);
  return (
    findColumn(columns, CHOICES) !== undefined &&
    answers.length > 0 &&
    answers.every((text) => POINTER.test(text))
  );
}

/** True if the only other columns are metadata and the text itself has no structure. */
function isPlainText(columns: string[], rows: unknown[][], text: string): boolean {
  if (!columns.every((column) => column === text || ABOUT_TEXT.test(column.trim().toLowerCase())))
    return false;
  if (columns.length === 1 && (isSeveralColumns(text) || isSentence(text))) return false;
  const at = columns.indexOf(text);
  return !areStructures(rows.map((row) => row[at]));
}

/** True if at least half of the texts are serialised lists or objects, possibly quoted twice. */
export function areStructures(values: unknown[]): boolean {
  const texts = values.flatMap((value) =>
    typeof value === 'string' && value.trim() !== '' ? strip(value, AROUND) : [],
  );
  return texts.length > 0 && 2 * texts.filter((text) => STRUCTURE.test(text)).length >= texts.length;
}

/** True if the single column name is a header line that no delimiter has split. */
export function isSeveralColumns(column: string): boolean {
  const words: string[] = column.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  const has = (names: readonly string[]) => names.some((name) => words.includes(name));
  return (
    PARTED.test(column) ||
    PAIRS.some(
      ([asked, answered]) => asked.length > 1 && words.includes(asked) && words.includes(answered),
    ) ||
    (has(INSTRUCTION) && has(ANSWER))
  );
}

/** True if the header row looks like data. */
export function isSentence(column: string): boolean {
  return (column.match(/\S+/g)?.length ?? 0) > NAME_WORDS_MAX || SENTENCE_END.test(column);
}

/** Returns the column of system prompts; a column named system may also name a machine. */
function systemColumn(columns: string[], rows: unknown[][]): string | undefined {
  const column = findColumn(columns, SYSTEM);
  if (column === undefined && NATURAL_INSTRUCTIONS.every((name) => findColumn(columns, [name]) !== undefined))
    return findColumn(columns, ['definition']);
  if (column === undefined || findColumn([column], SYSTEM.slice(0, 1)) === undefined) return column;
  const texts = plainTexts(columns, rows, column).filter((text) => text !== '');
  return 2 * texts.filter((text) => PROMPT.test(text)).length > texts.length || texts.length === 0
    ? column
    : undefined;
}

/** Returns the trimmed texts of a column, without lists and objects. */
function plainTexts(columns: string[], rows: unknown[][], column: string): string[] {
  const at = columns.indexOf(column);
  return rows.flatMap((row) => plainText(row[at]) ?? []);
}

function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim();
  const isPlain = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
  return isPlain ? String(value) : undefined;
}

/** Returns the first match among these names, case-insensitively. */
export function findColumn(columns: string[], names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = columns.find((column) => column.trim().toLowerCase() === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the only conversation column, or the one with a conversation's name if there are several. */
function dialogueColumn(
  columns: string[],
  rows: unknown[][],
  keys: readonly [string, string],
): string | undefined {
  const found = columns.filter((_, at) =>
    holdsDialogues(
      rows.map((row) => row[at]),
      keys,
    ),
  );
  return findColumn(found, DIALOGUE) ?? (found.length === 1 ? found[0] : undefined);
}

/** True if a column holds lists of turns, or at least half of its texts contain them. */
function holdsDialogues(values: unknown[], keys: readonly [string, string]): boolean {
  const isDialogue = (value: unknown) => {
    const [first] = toTurns(value) ?? [];
    return typeof first === 'object' && first !== null && keys.every((key) => key in first);
  };
  if (values.some((value) => typeof value !== 'string' && isDialogue(value))) return true;
  const texts = values.filter((value) => typeof value === 'string' && value.trim() !== '');
  const found = texts.filter(isDialogue).length;
  return found > 0 && 2 * found >= texts.length;
}

function onlyText(columns: string[], rows: unknown[][]): string | undefined {
  return columns.length === 1 && rows.some(([value]) => typeof value === 'string') ? columns[0] : undefined;
}
