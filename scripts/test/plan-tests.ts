/** Tests of one runner: those in `files` (null: in all files) with this name (null: with any name). */
export type Selection = { files: string[] | null; name: string | null };

/** The tests that each runner runs; null for no tests. */
export type TestPlan = Record<'units' | 'runtime' | 'journeys', Selection | null>;

/** Matches test files that do more in the soak tier than in the gate. */
const DOES_MORE_IN_SOAK = /\/soak\.ts'|\bsoakJourney\b|\bmark\.soak\b/;

/** True if a file runs only in the soak tier. */
const isSoakOnly = (file: string) => file.endsWith('.soak.test.ts');

type Runner = keyof TestPlan;

function runnerOf(file: string): Runner {
  if (/^(models|runtime)\//.test(file)) return 'runtime';
  return file.startsWith('e2e/') ? 'journeys' : 'units';
}

/**
 * Plans which tests to run. A word that is part of the path of a test file selects the file. All other words
 * together are the name of a test, which is searched for in the files that contain them. Without words, the
 * whole gate runs. `testFiles` maps paths to contents. `soak` selects only the files of the soak tier.
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
