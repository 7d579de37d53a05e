/** How the check looks at the repository. */
export type Repository = {
  /** Whether there is such a file or folder. */
  exists: (path: string) => boolean;
  /** The text of a file; null where there is none. */
  read: (path: string) => string | null;
};

const ROW = /^\| (?!Line|-)/;

/**
 * What the rows of docs/specification.md name and the repository does not have: files of the second column, and
 * tests of the third, each written as `file: title`. Pure.
 */
export function findBrokenReferences(document: string, { exists, read }: Repository): string[] {
  return document.split('\n').flatMap((line, index) => {
    if (!ROW.test(line)) return [];
    const [, , where = '', tests = ''] = line.split(/(?<!\\)\|/);
    const at = `docs/specification.md:${index + 1}`;
    const files = codes(where)
      .filter((path) => !exists(path))
      .map((path) => `${at}: there is no ${path}`);
    const gone = codes(tests)
      .map((named) => named.split(/: (.*)/s))
      .filter(([path = '', title = '']) => title === '' || !read(path)?.includes(title))
      .map(([path, title = '']) => `${at}: ${path} has no test '${title}'`);
    return [...files, ...gone];
  });
}

/** What stands between backticks. */
function codes(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
