/** Which tests of one runner to run: those in `files` (null: all), of them those named `name` (null: all). */
export type Selection = { files: string[] | null; name: string | null };

/** What to run in each runner; null: nothing. */
export type TestPlan = Record<'units' | 'runtime' | 'journeys', Selection | null>;

type Runner = keyof TestPlan;

function runnerOf(file: string): Runner {
  if (/^(models|runtime)\//.test(file)) return 'runtime';
  return file.startsWith('e2e/') ? 'journeys' : 'units';
}

/**
 * Words choose tests: a word that is part of the path of some test file chooses those files;
 * the others together are the name of a test. Without words everything runs.
 */
export function planTests(words: string[], testFiles: string[]): TestPlan {
  const paths = words.map((word) => word.replace(/^\.\//, ''));
  const isPath = (word: string) => testFiles.some((file) => file.includes(word));
  const fileWords = paths.filter(isPath);
  const name = paths.filter((word) => !isPath(word)).join(' ') || null;
  if (fileWords.length === 0) {
    const all = { files: null, name };
    return { units: all, runtime: all, journeys: all };
  }
  const chosen = testFiles.filter((file) => fileWords.some((word) => file.includes(word)));
  const select = (runner: Runner): Selection | null => {
    const files = chosen.filter((file) => runnerOf(file) === runner);
    return files.length > 0 ? { files, name } : null;
  };
  return { units: select('units'), runtime: select('runtime'), journeys: select('journeys') };
}
