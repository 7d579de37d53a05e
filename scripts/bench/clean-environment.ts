/**
 * Returns the environment of a program started from a plain shell, without our settings, which could slow a
 * reference down or speed it up.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  return { PATH, HOME, LANG, TMPDIR };
}
