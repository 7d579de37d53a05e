import { toTurns } from '../conversation.ts';
import { ANSWER, CHOICES, DIALOGUE, PREFERENCE } from './column-roles.ts';
import {
  areStructures,
  findColumn,
  isSentence,
  isSeveralColumns,
  pointsAtChoices,
} from './recognise-format.ts';

const AS_MESSAGES = 'write each conversation as one row with a list of messages (role, content)';

/**
 * A layout recognised by column names (every name of one set must occur), and the message about such a file.
 */
const SHAPES: readonly { said: string; columns: string[][] }[] = [
  {
    said: 'holds preferences without the question, or without one of two answers: write one row for each, with the columns prompt, chosen and rejected',
    columns: PREFERENCE.map((name) => [name]),
  },
  {
    said: 'has the layout of SQuAD, with questions inside paragraphs: write one row for each question, with the columns question, context and answer',
    columns: [['paragraphs']],
  },
  {
    said: 'has a list or an object in answers: write the answer of each row as text into a column called answer',
    columns: [
      ['question', 'answers'],
      ['query', 'answers'],
    ],
  },
  {
    said: `holds trees of messages, as OpenAssistant has them: ${AS_MESSAGES}`,
    columns: [['message_tree_id'], ['message_id', 'parent_id'], ['prompt', 'replies']],
  },
  { said: `is an export of ChatGPT, whose messages form trees: ${AS_MESSAGES}`, columns: [['mapping']] },
  { said: `has Gemini's layout (contents, parts): ${AS_MESSAGES}`, columns: [['contents']] },
  {
    said: 'holds instances inside each instruction: write one row for each, with the columns instruction, input and output',
    columns: [['instruction', 'instances']],
  },
  {
    said: `holds one turn on each row: ${AS_MESSAGES}`,
    columns: [
      ...[
        ['role', 'content'],
        ['role', 'text'],
        ['role', 'parts'],
        ['from', 'value'],
      ],
      ...[
        ['speaker', 'text'],
        ['type', 'content'],
        ['type', 'data'],
      ],
    ],
  },
];

/** Layouts recognised by the keys of a turn. */
const TURNS: readonly (readonly [keys: string[], whose: string])[] = [
  [['role', 'parts'], 'Gemini'],
  [['type', 'data'], 'LangChain'],
  [['type', 'content'], 'LangChain'],
  [['lc', 'kwargs'], 'LangChain'],
  [['human', 'assistant'], 'BELLE and Firefly'],
  [['input', 'output'], 'Capybara'],
];

/** Columns with these names are meant to hold turns, whatever their values. */
const DIALOGUES = [...DIALOGUE, 'chat', 'dialog', 'dialogue', 'turns'];

const SPLITS = ['train', 'training', 'test', 'validation', 'valid', 'val', 'dev', 'eval'];
const NAMED_KEYS_MAX = 5;
const NAME_CHARS_MAX = 60;

type File = { columns: string[]; rows: unknown[][]; broken: number };

/**
 * Describes an unrecognised file and how to fix it, as the end of a sentence that begins with the file's
 * name; null if nothing is known. The runtime rejects it with the same words, `data/layouts/shapes.py`.
 */
export function describeShape({ columns, rows, broken }: File): string | null {
  if (columns.length === 1 && broken > rows.length) {
    return `has one column, ${columns[0]}, and several fields in most of its rows: put each value into double quotes where it contains a comma`;
  }
  return (
    describeColumns(columns, rows) ??
    columns
      .map((column, at) =>
        describeList(
          column,
          rows.map((row) => row[at]),
        ),
      )
      .find((said) => said !== null) ??
    describeOnlyColumn(columns, rows)
  );
}

/** Describes the layout by column names. */
function describeColumns(columns: string[], rows: unknown[][]): string | null {
  const splits = SPLITS.flatMap((name) => findColumn(columns, [name]) ?? []);
  const firstSplit = columns.indexOf(splits[0] ?? '');
  if (splits.length > 1 && rows.every((row) => (toTurns(row[firstSplit]) ?? []).length > 0)) {
    return `holds several lists of rows (${splits.join(', ')}): save the one to train on alone`;
  }
  const names = new Set(columns.map((column) => column.trim().toLowerCase()));
  const shape = SHAPES.find((one) => one.columns.some((needed) => needed.every((name) => names.has(name))));
  if (shape) return shape.said;
  const [answer, choices] = [findColumn(columns, ANSWER), findColumn(columns, CHOICES)];
  if (answer === undefined || choices === undefined || !pointsAtChoices(columns, rows, answer)) return null;
  return `answers with numbers or letters of ${choices}: write the choices into the question, and the right one as text into ${answer}`;
}

/** Describes the lists in a column if they are not readable turns. */
function describeList(column: string, values: unknown[]): string | null {
  const list = values.map(toTurns).find((found) => found !== undefined && found.length > 0);
  if (!list) return null;
  const item = list.find((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
  const keys = Object.keys(item ?? {}).sort();
  const whose = TURNS.find(([known]) => known.every((key) => keys.includes(key)))?.[1];
  if (findColumn([column], DIALOGUES) === undefined && whose === undefined) return null;
  if (item) {
    const listed = keys.slice(0, NAMED_KEYS_MAX).join(', ');
    return `has objects with ${listed} in the lists of ${column}${whose ? `, as in ${whose}` : ''}: write each turn with role and content, or with from and value`;
  }
  if (list.every((one) => typeof one === 'string')) {
    return `has lists of texts in ${column}, which do not say who speaks: write each text as an object with role and content`;
  }
  return `has lists in ${column} that hold no turns: ${AS_MESSAGES}`;
}

/** Explains why a single column is not treated as text. */
function describeOnlyColumn(columns: string[], rows: unknown[][]): string | null {
  const [column = '', ...others] = columns;
  if (others.length > 0) return null;
  const name = column.length <= NAME_CHARS_MAX ? column : `${column.slice(0, NAME_CHARS_MAX)}…`;
  if (isSeveralColumns(column)) {
    return `has one column, which is called '${name}': separate its columns with commas, without quotes around whole lines, or choose Text if it is one column`;
  }
  if (isSentence(column)) {
    return `has one column, which is called '${name}': put a line with the name text above it if that is a row already, or choose Text if it is a name`;
  }
  if (areStructures(rows.map(([value]) => value))) {
    return `has lists or objects written as text in ${column}, which cannot be read: write them as JSON, or choose Text to train on them as they stand`;
  }
  return null;
}
