import { dialogueKeys } from './conversation.ts';

/** A part of a text, and the line on which it starts. */
export type Part = { line: number; text: string };

/**
 * Finds the rows in a JSON text that is one object: the single list of objects that it holds, else the object
 * itself. Null if the text is not one object. Keep in step with the runtime's `data/json_rows.py`.
 */
export function unwrapObject(text: string): ({ isList: boolean } & Part) | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const lists = listsInside(text).filter((list) => isListOfRows(JSON.parse(list.text)));
  const [only] = lists;
  if (only && lists.length === 1) return { isList: true, ...only };
  return { isList: false, ...partOf(text, text.indexOf('{'), text.length) };
}

/** Returns the lists that are direct values of a JSON object. */
function listsInside(text: string): Part[] {
  const lists: Part[] = [];
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (inString) {
      if (mark === '\\') at += 1;
      else if (mark === '"') inString = false;
    } else if (mark === '"') inString = true;
    else if (mark === '{' || mark === '[') {
      if (depth === 1) start = at;
      depth += 1;
    } else if (mark === '}' || mark === ']') {
      depth -= 1;
      if (depth === 1 && mark === ']') lists.push(partOf(text, start, at + 1));
    }
  }
  return lists;
}

/** True if a value is a list of objects that are rows, rather than the turns of one conversation. */
function isListOfRows(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item: unknown) => typeof item === 'object' && item !== null && !Array.isArray(item) && !isTurn(item),
    )
  );
}

function isTurn(item: object): boolean {
  return Object.values(dialogueKeys).some((keys) => keys.every((key) => key in item));
}

function partOf(text: string, start: number, end: number): Part {
  return { line: text.slice(0, start).split('\n').length, text: text.slice(start, end) };
}
