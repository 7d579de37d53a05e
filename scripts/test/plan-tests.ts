/** Which tests of one runner to run: those in `files` (null: all), of them those named `name` (null: all). */
export type Selection = { files: string[] | null; name: string | null };

/** Tests to run in each runner; null for none. */
export type TestPlan = Record<'units' | 'runtime' | 'journeys', Selection | null>;

/** Marks a test file that does more in the soak tier. */
const DOES_MORE_IN_SOAK = /\/soak\.ts'|\bsoakJourney\b|\bmark\.soak\b/;

/** Whether only the soak tier runs this file. */
const isSoakOnly = (file: string) => file.endsWith('.soak.test.ts');

type Runner = keyof TestPlan;

function runnerOf(file: string): Runner {
  if (/^(models|runtime)\//.test(file)) return 'runtime';
  return file.startsWith('e2e/') ? 'journeys' : 'units';
}

/**
 * Words choose tests: a word that is part of the path of some test file chooses those files;
 * the others together are the name of a test, which is looked for where its words occur.
 * Without words the whole gate runs. `testFiles` holds the text of each file by its path. A `soak` selects only the files of
 * the soak tier.
 */
export function planTests(
  words: string[],
  testFiles: ReadonlyMap<string, string>,
  { soak = false } = {},
): TestPlan {
  if (words.length === 0 && !soak) {
    const all = { files: null, name: null };
    return { units: all, runtime: all, journeys: all };
  }
  const paths = words.map((word) => word.replace(/^\.\//, ''));
  const isPath = (word: string) => [...testFiles.keys()].some((file) => file.includes(word));
  const fileWords = paths.filter(isPath);
  const name = paths.filter((word) => !isPath(word)).join(' ') || null;
  const nameWords = name?.match(/\w+/g) ?? [];
  const chosen = [...testFiles].flatMap(([file, text]) => {
    if (soak ? !isSoakOnly(file) && !DOES_MORE_IN_SOAK.test(text) : isSoakOnly(file)) return [];
    const hasPath = fileWords.length === 0 || fileWords.some((word) => file.includes(word));
    return hasPath && nameWords.every((word) => text.includes(word)) ? [file] : [];
  });
  const select = (runner: Runner): Selection | null => {
    const files = chosen.filter((file) => runnerOf(file) === runner);
    return files.length > 0 ? { files, name } : null;
  };
  return { units: select('units'), runtime: select('runtime'), journeys: select('journeys') };
}
