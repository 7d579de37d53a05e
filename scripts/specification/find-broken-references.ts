import { readRows } from './read-rows.ts';

/** How the check looks at the repository. */
export type Repository = {
  /** Whether there is such a file or folder. */
  exists: (path: string) => boolean;
  /** The text of a file; null where there is none. */
  read: (path: string) => string | null;
};

const FILE = /\.\w+$/;
const CALL = /(?:\b(?:describe|it|journey|test)(?:\.\w+)*|[)`])\(\s*['"`]$/;

/**
 * What the rows of docs/specification.md name and the repository does not have: files of the second column, and
 * tests of the third, each written as `file: title`. Where the first column quotes one of these sentences, it stands in a
 * file of the second, unless that names a folder, and in one of the tests. Pure.
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
 * Whether a test file has a test, or several, of this title: it is the first argument of one of these calls, or of what
 * `each` returns, or stands in a row of a table. A line that begins with a text is taken for such a row.
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

/** Whether the cell has the sentence between quotes; its full stop may be left out. */
function quotes(cell: string, sentence: string): boolean {
  return cell.includes(`'${sentence}'`) || cell.includes(`'${sentence.replace(/\.$/, '')}'`);
}

/** The longest part of a sentence in which nothing is filled in. */
function fixedPart(sentence: string): string {
  return sentence.split(/\{\w+\}/).reduce((longest, part) => (part.length > longest.length ? part : longest));
}
