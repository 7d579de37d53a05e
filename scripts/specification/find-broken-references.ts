import { readRows } from './read-rows.ts';

/** Reads files of the repository. */
export type Repository = {
  /** Returns true if the file or folder exists. */
  exists: (path: string) => boolean;
  /** Returns the text of a file, or null if it is missing. */
  read: (path: string) => string | null;
};

const FILE = /\.\w+$/;
const CALL = /(?:\b(?:describe|it|journey|soakJourney|test)(?:\.\w+)*|[)`])\(\s*['"`]$/;

/**
 * Returns the references in docs/specification.md that do not exist: files in the second column, and tests
 * (written as `file: title`) in the third. If the first column quotes one of `sentences`, that sentence must
 * also occur in a file of the second column (unless that is a folder) and in one of the tests.
 */
export function findBrokenReferences(
  document: string,
  { exists, read }: Repository,
  sentences: readonly string[],
): string[] {
  return readRows(document).flatMap(({ at, line, places, tests }) => {
    const files = places.filter((path) => !exists(path)).map((path) => `${at}: there is no ${path}`);
    const gone = tests
      .filter(({ file, title }) => title === '' || !names(read(file) ?? '', title))
      .map(({ file, title }) => `${at}: ${file} has no test '${title}'`);
    const quoted = sentences.filter((sentence) => quotes(line, sentence));
    const unsaid = (paths: string[]) =>
      quoted.filter((sentence) => !paths.some((path) => read(path)?.includes(fixedPart(sentence))));
    const unfound = places.every((path) => FILE.test(path)) ? unsaid(places) : [];
    return [
      ...files,
      ...gone,
      ...unfound.map((sentence) => `${at}: '${sentence}' stands in none of its files`),
      ...unsaid(tests.map(({ file }) => file)).map(
        (sentence) => `${at}: '${sentence}' stands in none of its tests`,
      ),
    ];
  });
}

/**
 * True if a test file has a test with this title. The title must be the first argument of a test call or of
 * the function that `each` returns, or be in the table of `each`. A line that begins with a text counts as
 * part of a table.
 */
function names(text: string, title: string): boolean {
  const [before, ...rest] = text.split(title);
  let so = before ?? '';
  return rest.some((after) => {
    const line = so.slice(so.lastIndexOf('\n') + 1).trimStart();
    const isTitle = CALL.test(so) && /^['"`]/.test(after);
    so += title + after;
    return isTitle || /^['"`[]/.test(line || title);
  });
}

/** True if the cell contains the sentence in quotes, with or without its full stop. */
function quotes(cell: string, sentence: string): boolean {
  return cell.includes(`'${sentence}'`) || cell.includes(`'${sentence.replace(/\.$/, '')}'`);
}

/** Returns the longest part of a sentence without placeholders. */
function fixedPart(sentence: string): string {
  return sentence.split(/\{\w+\}/).reduce((longest, part) => (part.length > longest.length ? part : longest));
}
