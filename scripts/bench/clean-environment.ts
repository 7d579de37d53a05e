/**
 * The environment that a program has when a person starts it from a plain shell: none of our settings,
 * which would slow a reference down, or speed it up, as they do us.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  return { PATH, HOME, LANG, TMPDIR };
}
