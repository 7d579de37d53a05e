/** What Git takes as the name of a tag or branch, of what people write. */
const NAME = /^(?!.*(\.\.|\/\/|\/\.|\.lock$))[A-Za-z0-9_][\w./+-]{0,199}(?<![./])$/;

/** Whether a tag or branch can have this name; main, HEAD and ids of commits are names already. Pure. */
export function isReferenceName(name: string): boolean {
  const isTaken = ['main', 'HEAD'].includes(name) || /^[0-9a-f]{40}$/.test(name) || name.startsWith('refs/');
  return NAME.test(name) && !isTaken;
}
