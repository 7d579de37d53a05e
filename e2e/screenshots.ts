import path from 'node:path';

/** Returns the path of a screenshot; git ignores the folder. */
export function screenshotPath(name: string): string {
  return path.join(import.meta.dirname, 'screenshots', `${name.replace(/[^\w-]+/g, '-')}.png`);
}
