/** Returns the environment of a plain shell, because our settings could change the speed of a reference. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  return { PATH, HOME, LANG, TMPDIR };
}
