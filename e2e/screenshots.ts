import path from 'node:path';

/** Returns the path of a screenshot. Git ignores its folder. */
export function screenshotPath(name: string): string {
  return path.join(import.meta.dirname, 'screenshots', `${name.replace(/[^\w-]+/g, '-')}.png`);
}
