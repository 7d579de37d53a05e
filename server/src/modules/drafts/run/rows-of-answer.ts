import type { DropReason } from '@bakehouse/contract/drafts';
import * as z from 'zod';

export type Found = {
  rows: { question: string; answer: string }[];
  dropped: Partial<Record<DropReason, number>>;
};

/** Dots and dashes alone, which models copy from a template, are not content. */
const SAYS = /[\p{L}\p{N}]/u;

const row = z.object({ question: z.string(), answer: z.string() });

/**
 * Returns the rows in an answer: every JSON object with a question and an answer, wherever it occurs, because
 * models omit the envelope or add text around it. Counts blank rows, a row truncated by the end of the
 * answer, and an answer without rows.
 */
export function rowsOfAnswer(answer: string, isWhole: boolean): Found {
  const found: Found = { rows: [], dropped: {} };
  const { objects, isOpen } = innermostObjects(answer);
  let read = 0;
  for (const text of objects) {
    const { success, data } = row.safeParse(parse(text));
    if (!success) continue;
    read += 1;
    const [question, said] = [data.question.trim(), data.answer.trim()];
    if (!SAYS.test(question) || !SAYS.test(said)) drop(found, 'empty');
    else found.rows.push({ question, answer: said });
  }
  if (!isWhole && isOpen) drop(found, 'cut_off');
  else if (read === 0) drop(found, 'unreadable');
  return found;
}

function drop({ dropped }: Found, reason: DropReason): void {
  dropped[reason] = (dropped[reason] ?? 0) + 1;
}

/** Returns each innermost `{…}` span, ignoring braces in strings, which end at the line end at the latest. */
function innermostObjects(text: string): { objects: string[]; isOpen: boolean } {
  const objects: string[] = [];
  let begin: number | null = null;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"' || character === '\n') inString = false;
    } else if (character === '{') {
      begin = at;
      depth += 1;
    } else if (character === '}') {
      if (begin !== null) objects.push(text.slice(begin, at + 1));
      begin = null;
      depth = Math.max(0, depth - 1);
    } else if (character === '"') inString = depth > 0;
  }
  return { objects, isOpen: depth > 0 };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
